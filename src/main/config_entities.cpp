#include "main/config_entities.hpp"

#include <algorithm>

namespace sluice {
namespace {

const Names<ProfileChoice> profile_choices{{"none", ProfileChoice::none},
                                           {"temp", ProfileChoice::temp},
                                           {"environments", ProfileChoice::environments},
                                           {"target", ProfileChoice::target}};

// One kind and the table that it is read from, by which actions and states are checked.
class KindReader {
  public:
    KindReader(Section& section, EntityKind& kind) : section_(section), kind_(kind) {}

    void read_states() {
        section_.require("initial", "the state of a new one");
        section_.text("initial", kind_.initial);
        section_.flag("implicit", kind_.is_implicit);
        std::vector<Section> rows = section_.sections("transitions");
        for (Section& row : rows) {
            EntityTransition transition;
            row.require("action", "what leads from one state to another");
            row.text("action", transition.action);
            row.require("from", "the states from which it does");
            row.texts("from", transition.from);
            row.require("to", "the state after it");
            row.text("to", transition.to);
            row.close();
            kind_.transitions.push_back(std::move(transition));
        }
        check_from_states(rows);
    }

    void read_jobs() {
        for (Section& row : section_.sections("gates")) {
            Gate gate;
            read_step(row, gate.action, gate.job_type);
            row.choice("profiles", gate.profiles, profile_choices);
            row.close();
            kind_.gates.push_back(std::move(gate));
        }
        for (Section& row : section_.sections("orders")) {
            JobOrder order;
            read_step(row, order.action, order.job_type);
            row.texts("carries", order.carries);
            row.choice("profiles", order.profiles, profile_choices);
            row.close();
            kind_.orders.push_back(std::move(order));
        }
        for (Section& row : section_.sections("follows")) read_follow(row);
    }

  private:
    // A state that nothing leads to is a slip of the pen.
    void check_from_states(std::vector<Section>& rows) {
        std::vector<std::string> known{kind_.initial};
        for (const EntityTransition& row : kind_.transitions) known.push_back(row.to);
        for (std::size_t i = 0; i < rows.size(); ++i) {
            for (const std::string& state : kind_.transitions[i].from) {
                if (std::find(known.begin(), known.end(), state) != known.end()) continue;
                rows[i].problem("from", *rows[i].find("from"),
                                fmt::format("\"{}\" is a state that nothing leads to; {}", state,
                                            suggestion(state, known)));
            }
        }
    }

    void read_step(Section& row, std::string& action, std::string& job_type) {
        row.require("action", "the action that this is about");
        read_action(row, "action", action);
        row.require("job_type", "the type of the job");
        row.text("job_type", job_type);
    }

    void read_follow(Section& row) {
        Follow follow;
        row.require("job_type", "the type of the jobs that it moves with");
        row.text("job_type", follow.job_type);
        read_action(row, "on_start", follow.on_start);
        read_action(row, "on_success", follow.on_success);
        read_action(row, "on_failure", follow.on_failure);
        std::vector<std::pair<std::string, std::string>> outcomes;
        row.text_pairs("on_outcome", outcomes);
        for (const auto& [outcome, action] : outcomes) {
            check_action(row, "on_outcome", action);
            follow.on_outcome.emplace(outcome, action);
        }
        row.close();
        if (kind_.follow(follow.job_type) != nullptr && row.has("job_type")) {
            return row.problem("job_type", *row.find("job_type"),
                               fmt::format("a {} follows jobs of type \"{}\" already", kind_.name,
                                           follow.job_type));
        }
        if (!follow.on_start.empty() && orders_jobs(follow.on_start)) {
            row.problem("on_start", *row.find("on_start"),
                        "this action enqueues jobs (orders), which the start of a job does not do");
        }
        kind_.follows.push_back(std::move(follow));
    }

    bool orders_jobs(const std::string& action) const {
        return std::any_of(kind_.orders.begin(), kind_.orders.end(),
                           [&](const JobOrder& order) { return order.action == action; });
    }

    void read_action(Section& row, std::string_view key, std::string& out) {
        row.text(key, out);
        if (row.has(key)) check_action(row, key, out);
    }

    void check_action(Section& row, std::string_view key, const std::string& action) {
        if (action.empty() || kind_.has_action(action)) return;
        std::vector<std::string> known;
        for (const EntityTransition& transition : kind_.transitions) {
            known.push_back(transition.action);
        }
        row.problem(key, *row.find(key),
                    fmt::format("no transition has the action \"{}\"; {}", action,
                                suggestion(action, known)));
    }

    Section& section_;
    EntityKind& kind_;
};

void refuse_states(Section& section) {
    for (const char* key : {"initial", "implicit", "transitions"}) {
        const toml::node* node = section.find(key);
        if (node == nullptr) continue;
        section.problem(key, *node, "this kind is built in and keeps its states");
    }
}

}  // namespace

void read_entity_kinds(Section table, EntityKinds& out) {
    for (const std::string& name : table.members()) {
        Section section = table.section(name);
        if (!section.exists()) continue;
        if (name.empty() || name.size() > limits::name_bytes) {
            table.problem(name, *table.find(name),
                          fmt::format("must be a name of 1 to {} bytes", limits::name_bytes));
        }
        const EntityKind* known = out.find(name);
        EntityKind kind =
            known == nullptr ? EntityKind{.name = name, .initial = {}, .transitions = {}} : *known;
        KindReader reader(section, kind);
        if (known == nullptr) {
            reader.read_states();
        } else {
            refuse_states(section);
        }
        reader.read_jobs();
        section.close();
        out.put(std::move(kind));
    }
}

}  // namespace sluice
