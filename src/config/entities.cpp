// Kinds of entities, from TOML and as they are shown.
#include <algorithm>

#include "config/settings.hpp"

namespace sluice {
namespace {

const Names<ProfileChoice> profile_choices{{"none", ProfileChoice::none},
                                           {"temp", ProfileChoice::temp},
                                           {"environments", ProfileChoice::environments},
                                           {"target", ProfileChoice::target}};

Rows<EntityTransition> transition_rows() {
    using T = EntityTransition;
    return {needed("action", text(&T::action), "what leads from one state to another"),
            needed("from", texts(&T::from), "the states from which it does"),
            needed("to", text(&T::to), "the state after it")};
}

// Gates and orders begin alike.
template <class Step>
Rows<Step> step_rows() {
    return {needed("action", text(&Step::action), "the action that this is about"),
            needed("job_type", text(&Step::job_type), "the type of the job")};
}

Rows<Gate> gate_rows() {
    Rows<Gate> rows = step_rows<Gate>();
    rows.push_back({"profiles", choice(&Gate::profiles, profile_choices)});
    return rows;
}

Rows<JobOrder> order_rows() {
    Rows<JobOrder> rows = step_rows<JobOrder>();
    rows.push_back({"carries", texts(&JobOrder::carries)});
    rows.push_back({"profiles", choice(&JobOrder::profiles, profile_choices)});
    return rows;
}

using Actions = decltype(Follow::on_outcome);

std::optional<Actions> read_actions(Section& section, std::string_view key) {
    const auto pairs = section.text_pairs(key);
    return pairs ? std::optional(Actions(pairs->begin(), pairs->end())) : std::nullopt;
}

std::string actions_text(const Actions& actions) {
    std::vector<std::string> members;
    for (const auto& [outcome, action] : actions) {
        members.push_back(fmt::format("{} = {}", quoted(outcome), quoted(action)));
    }
    return fmt::format("{{{}}}", fmt::join(members, ", "));
}

Rows<Follow> follow_rows() {
    using F = Follow;
    return {needed("job_type", text(&F::job_type), "the type of the jobs that it moves with"),
            {"on_start", text(&F::on_start)},
            {"on_success", text(&F::on_success)},
            {"on_failure", text(&F::on_failure)},
            {"on_outcome", form_of(&F::on_outcome, read_actions, actions_text, "actions")}};
}

// One kind and the table that it is read from, by which actions and states are checked.
class KindReader {
  public:
    KindReader(Section& section, EntityKind& kind) : section_(section), kind_(kind) {}

    void read_states() {
        section_.require("initial", "the state of a new one");
        kind_.initial = section_.text("initial", limits::name_bytes).value_or("");
        kind_.is_implicit = section_.flag("implicit").value_or(false);
        std::vector<Section> tables = section_.sections("transitions");
        for (Section& table : tables) {
            kind_.transitions.push_back(read_table(table, transition_rows()));
        }
        check_from_states(tables);
    }

    void read_jobs() {
        for (Section& table : section_.sections("gates")) {
            kind_.gates.push_back(read_table(table, gate_rows()));
            check_action(table, "action", kind_.gates.back().action);
        }
        for (Section& table : section_.sections("orders")) {
            kind_.orders.push_back(read_table(table, order_rows()));
            check_action(table, "action", kind_.orders.back().action);
        }
        for (Section& table : section_.sections("follows")) read_follow(table);
    }

  private:
    // A state that no step leads to is a mistake in the file.
    void check_from_states(std::vector<Section>& tables) {
        std::vector<std::string> known{kind_.initial};
        for (const EntityTransition& row : kind_.transitions) known.push_back(row.to);
        for (std::size_t i = 0; i < tables.size(); ++i) {
            for (const std::string& state : kind_.transitions[i].from) {
                if (std::find(known.begin(), known.end(), state) != known.end()) continue;
                tables[i].problem("from", fmt::format("\"{}\" is a state that nothing leads to; {}",
                                                      state, suggestion(state, known)));
            }
        }
    }

    void read_follow(Section& table) {
        Follow follow = read_table(table, follow_rows());
        check_action(table, "on_start", follow.on_start);
        check_action(table, "on_success", follow.on_success);
        check_action(table, "on_failure", follow.on_failure);
        for (const auto& [outcome, action] : follow.on_outcome) {
            check_action(table, "on_outcome", action);
        }
        if (kind_.follow(follow.job_type) != nullptr && table.has("job_type")) {
            table.problem("job_type", fmt::format("a {} follows jobs of type \"{}\" already",
                                                  kind_.name, follow.job_type));
            return;
        }
        if (!follow.on_start.empty() && orders_jobs(follow.on_start)) {
            table.problem("on_start",
                          "this action enqueues jobs (orders), which the start of a "
                          "job does not do");
        }
        kind_.follows.push_back(std::move(follow));
    }

    bool orders_jobs(const std::string& action) const {
        return std::any_of(kind_.orders.begin(), kind_.orders.end(),
                           [&](const JobOrder& order) { return order.action == action; });
    }

    void check_action(Section& table, std::string_view key, const std::string& action) {
        if (action.empty() || kind_.has_action(action)) return;
        std::vector<std::string> known;
        for (const EntityTransition& transition : kind_.transitions) {
            known.push_back(transition.action);
        }
        table.problem(key, fmt::format("no transition has the action \"{}\"; {}", action,
                                       suggestion(action, known)));
    }

    Section& section_;
    EntityKind& kind_;
};

void refuse_states(Section& section, const std::string& kind) {
    for (const char* key : {"initial", "implicit", "transitions"}) {
        if (!section.has(key)) continue;
        section.problem(key, fmt::format("\"{}\" is a built-in kind, whose states are fixed; "
                                         "leave \"{}\" out, or choose another name",
                                         kind, key));
    }
}

void add_kind(Listing& out, const EntityKind& kind) {
    const std::string path = fmt::format("entities.{}.", kind.name);
    out.add({path + "initial"}, quoted(kind.initial));
    out.add({path + "implicit"}, flag_text(kind.is_implicit));
    out.add({path + "transitions"}, tables_text(transition_rows(), kind.transitions));
    out.add({path + "gates"}, tables_text(gate_rows(), kind.gates));
    out.add({path + "orders"}, tables_text(order_rows(), kind.orders));
    out.add({path + "follows"}, tables_text(follow_rows(), kind.follows));
}

// Whether the file says anything about the kind.
bool is_configured(const Config& config, const std::string& kind) {
    const std::string path = fmt::format("entities.{}.", kind);
    const auto found = config.origins.lower_bound(path);
    return found != config.origins.end() && found->first.starts_with(path);
}

}  // namespace

void read_entity_kinds(Section table, EntityKinds& out) {
    for (const std::string& name : table.members()) {
        Section section = table.section(name);
        if (!section.exists()) continue;
        if (name.empty() || name.size() > limits::name_bytes) {
            table.problem(name, fmt::format("must be a name of 1 to {} bytes", limits::name_bytes));
        }
        const EntityKind* known = out.find(name);
        EntityKind kind =
            known == nullptr ? EntityKind{.name = name, .initial = {}, .transitions = {}} : *known;
        KindReader reader(section, kind);
        if (known == nullptr) {
            reader.read_states();
        } else {
            refuse_states(section, name);
        }
        reader.read_jobs();
        section.close();
        out.put(std::move(kind));
    }
}

void show_entity_kinds(Listing& out, const Config& config, bool all) {
    for (const auto& [name, kind] : config.entity_kinds.all()) {
        if (all || is_configured(config, name)) add_kind(out, kind);
    }
}

}  // namespace sluice
