// [governance]: the rules about which jobs may run now, from TOML and as they are shown.
#include <algorithm>
#include <set>

#include "application/toolkit/names.hpp"
#include "config/settings.hpp"

namespace sluice {
namespace {

constexpr std::int64_t revision_max = 1'000'000'000;
constexpr const char* maintenance_name = "maintenance";

enum class Submits { take, refuse };
const Names<Submits> submits_choices{{"take", Submits::take}, {"refuse", Submits::refuse}};

using Count = std::optional<std::int64_t>;

// What a rule must be like is decided by check_rule(), so that files and requests get the same
// answer.
template <class Owner>
Form<Owner> count(Count Owner::*member) {
    const auto read = [](Section& in, std::string_view key) {
        return in.integer(key, INT64_MIN, INT64_MAX);
    };
    const auto write = [](const Count& value) { return value ? fmt::to_string(*value) : ""; };
    return form_of(member, read, write, "a number", TomlValue::Kind::integer);
}

struct QuotaTable {
    std::string name{};
    std::string tenant{};
    std::string profile{};
    std::string type{};
    Count max_active{};
    Count max_per_hour{};
    Count burst{};
    bool paused = false;
    std::string reason{};
};

Rows<QuotaTable> quota_table_rows() {
    using T = QuotaTable;
    return {needed("name", text(&T::name), "by which later revisions know the rule"),
            {"tenant", text(&T::tenant)},
            {"profile", text(&T::profile)},
            {"type", text(&T::type)},
            {"max_active", count(&T::max_active)},
            {"max_per_hour", count(&T::max_per_hour)},
            {"burst", count(&T::burst)},
            {"paused", flag(&T::paused)},
            {"reason", text(&T::reason, limits::reason_bytes)}};
}

struct RateTable {
    Count count{};
    Count period_ms{};
    Count burst{};
};
using RateChoice = std::optional<RateTable>;

Rows<RateTable> rate_table_rows() {
    using T = RateTable;
    return {needed("count", count(&T::count), "how many starts a period has"),
            {"period_ms", count(&T::period_ms)},
            {"burst", count(&T::burst)}};
}

std::optional<RateChoice> read_rate_table(Section& section, std::string_view key) {
    Section table = section.section(key);
    if (!table.exists()) return std::nullopt;
    RateTable rate;
    read_rows(table, rate_table_rows(), rate);
    table.close();
    return rate;
}

std::string rate_table_text(const RateChoice& rate) {
    if (!rate) return "";
    const std::string list = tables_text(rate_table_rows(), std::vector{*rate});
    return list.substr(1, list.size() - 2);
}

struct LimitTable {
    std::string name{};
    std::string tenant{};
    std::string type{};
    std::string queue{};
    std::string source{};
    std::vector<std::string> per{};
    Count max_active{};
    RateChoice rate{};
    bool paused = false;
    std::string reason{};
};

bool are_dimensions(Section& section, std::string_view key, const std::vector<std::string>& per) {
    std::vector<std::string> known;
    for (const Dimension dimension : all_dimensions) known.emplace_back(to_text(dimension));
    for (const std::string& name : per) {
        if (parse_dimension(name)) continue;
        section.problem(key, fmt::format("\"{}\" is nothing that rules count by; {}", name,
                                         suggestion(name, known)));
        return false;
    }
    return true;
}

Rows<LimitTable> limit_table_rows() {
    using T = LimitTable;
    return {needed("name", text(&T::name), "by which later revisions know the rule"),
            {"tenant", text(&T::tenant)},
            {"type", text(&T::type)},
            {"queue", text(&T::queue)},
            {"source", text(&T::source)},
            {"per", texts(&T::per, are_dimensions)},
            {"max_active", count(&T::max_active)},
            {"rate", form_of(&T::rate, read_rate_table, rate_table_text, "a table",
                             TomlValue::Kind::table)},
            {"paused", flag(&T::paused)},
            {"reason", text(&T::reason, limits::reason_bytes)}};
}

struct ProfileTable {
    std::string name{};
    std::vector<std::string> tenants{};
};

Rows<ProfileTable> profile_table_rows() {
    using T = ProfileTable;
    return {needed("name", text(&T::name), "which quotas name"),
            needed("tenants", texts(&T::tenants), "that are given the quotas of the profile")};
}

// ── tables and rules ──

LimitRule rule_of(const QuotaTable& table) {
    LimitRule rule{.kind = LimitKind::quota, .name = table.name, .profile = table.profile};
    rule.scope = {.tenant = table.tenant, .type = table.type};
    rule.per = counted_by_of_quota(rule.scope);
    rule.max_active = table.max_active;
    if (table.max_per_hour) rule.rate = hourly_rate(*table.max_per_hour, table.burst);
    rule.paused = table.paused;
    rule.reason = table.reason;
    return rule;
}

QuotaTable quota_table_of(const LimitRule& rule) {
    QuotaTable table{.name = rule.name,
                     .tenant = rule.scope.tenant,
                     .profile = rule.profile,
                     .type = rule.scope.type,
                     .max_active = rule.max_active,
                     .paused = rule.paused,
                     .reason = rule.reason};
    if (rule.rate) {
        table.max_per_hour = rule.rate->count;
        table.burst = rule.rate->burst;
    }
    return table;
}

LimitRule rule_of(const LimitTable& table) {
    LimitRule rule{.kind = LimitKind::limit, .name = table.name};
    rule.scope = {
        .tenant = table.tenant, .type = table.type, .queue = table.queue, .source = table.source};
    for (const std::string& name : table.per) rule.per.add(*parse_dimension(name));
    rule.max_active = table.max_active;
    if (table.rate) {
        constexpr std::int64_t period_max = 1'000'000'000;  // more than any rate may have
        const std::int64_t period = table.rate->period_ms.value_or(1000);
        rule.rate =
            LimitRate{.count = table.rate->count.value_or(0),
                      .period = from_millis(std::clamp<std::int64_t>(period, -1, period_max))};
        rule.rate->burst = table.rate->burst.value_or(default_burst(*rule.rate));
    }
    rule.paused = table.paused;
    rule.reason = table.reason;
    return rule;
}

LimitTable limit_table_of(const LimitRule& rule) {
    LimitTable table{.name = rule.name,
                     .tenant = rule.scope.tenant,
                     .type = rule.scope.type,
                     .queue = rule.scope.queue,
                     .source = rule.scope.source,
                     .max_active = rule.max_active,
                     .paused = rule.paused,
                     .reason = rule.reason};
    for (const Dimension dimension : all_dimensions) {
        if (rule.per.has(dimension)) table.per.emplace_back(to_text(dimension));
    }
    if (rule.rate) {
        table.rate = RateTable{.count = rule.rate->count,
                               .period_ms = to_millis(rule.rate->period),
                               .burst = rule.rate->burst};
    }
    return table;
}

// ── reading ──

// Reads the tables and gathers what they say; a rule that cannot be is reported and left out.
class RulesReader {
  public:
    RulesReader(Section& governance, ConfiguredLimits& out) : governance_(governance), out_(out) {}

    void read() {
        for (Section& table : governance_.sections("quota")) {
            add(table, rule_of(read_table(table, quota_table_rows())));
        }
        for (Section& table : governance_.sections("limit")) {
            add(table, rule_of(read_table(table, limit_table_rows())));
        }
        for (Section& table : governance_.sections("profile")) add_profile(table);
        add_maintenance(governance_.section("maintenance"));
    }

  private:
    void add(Section& table, LimitRule rule) {
        if (!table.has("name")) return;  // which was reported
        if (rule.name == maintenance_name) {
            table.problem("name", "is the one of [governance.maintenance]: choose another");
        } else if (!names_.insert(rule.name).second) {
            table.problem("name", fmt::format("another rule is \"{}\" already", rule.name));
        } else if (const auto error = check_rule(rule, Timestamp{})) {
            report(table, *error);
        } else if (const LimitRule* same = same_quota(rule)) {
            table.problem("name", fmt::format("\"{}\" is a quota for the same jobs: give one for "
                                              "each tenant or profile, and type",
                                              same->name));
        } else {
            out_.rules.push_back(std::move(rule));
        }
    }

    // The pointer of the refusal is that of requests: "/rate/burst".
    static void report(Section& table, const Error& error) {
        if (error.pointer.empty()) {
            table.problem("name", error.message);
            return;
        }
        const std::string key = error.pointer.substr(1, error.pointer.find('/', 1) - 1);
        if (!table.has(key)) {  // it is missing
            table.problem("name", error.message);
            return;
        }
        const std::string inner = error.pointer.substr(1 + key.size());
        table.problem(key, inner.empty() ? error.message : inner.substr(1) + " " + error.message);
    }

    const LimitRule* same_quota(const LimitRule& rule) const {
        if (rule.kind != LimitKind::quota) return nullptr;
        const auto found =
            std::find_if(out_.rules.begin(), out_.rules.end(), [&](const LimitRule& other) {
                return other.kind == LimitKind::quota && other.scope == rule.scope &&
                       other.profile == rule.profile;
            });
        return found == out_.rules.end() ? nullptr : &*found;
    }

    void add_profile(Section& table) {
        ProfileTable profile = read_table(table, profile_table_rows());
        if (!table.has("name") || !table.has("tenants")) return;
        auto error = check_path_id("name", profile.name);
        if (!error) error = check_profile_tenants(profile.tenants);
        if (error) return report(table, *error);
        if (out_.profiles.contains(profile.name)) {
            table.problem("name", fmt::format("another profile is \"{}\" already", profile.name));
            return;
        }
        out_.profiles[profile.name] = std::move(profile.tenants);
    }

    // The engine starts in maintenance when the table is there.
    void add_maintenance(Section table) {
        if (!table.exists()) return;
        table.require("reason", "say why, for those who wonder why nothing runs");
        LimitRule rule{.kind = LimitKind::maintenance, .name = maintenance_name};
        rule.paused = true;
        rule.reason = table.text("reason", limits::reason_bytes).value_or("");
        const auto submits = table.choice("submits", names_of(submits_choices));
        rule.refuses_submits = submits && submits_choices[*submits].second == Submits::refuse;
        table.close();
        out_.rules.push_back(std::move(rule));
    }

    Section& governance_;
    ConfiguredLimits& out_;
    std::set<std::string> names_;
};

template <class Table>
void show_tables(Listing& out, const char* key, const Rows<Table>& rows,
                 const std::vector<Table>& tables) {
    if (!tables.empty()) out.add({key}, tables_text(rows, tables));
}

}  // namespace

Rows<ConfiguredLimits> governance_rows() {
    Form<ConfiguredLimits> revision = integer(&ConfiguredLimits::revision, 1, revision_max);
    revision.show = [show = revision.show](Listing& out, const SettingKey& key,
                                           const ConfiguredLimits& limits) {
        if (limits.revision > 0) show(out, key, limits);
    };
    return {{"revision", std::move(revision),
             "Raise it with each change of [governance]: of two engines on a store, the one with "
             "the higher revision decides.",
             Outside(), "1", "raise it with each change of the rules"}};
}

void read_governance(Section& governance, ConfiguredLimits& out) {
    RulesReader(governance, out).read();
}

void show_governance(Listing& out, const ConfiguredLimits& governance) {
    std::vector<QuotaTable> quotas;
    std::vector<LimitTable> rules;
    std::vector<ProfileTable> profiles;
    for (const LimitRule& rule : governance.rules) {
        if (rule.kind == LimitKind::quota) quotas.push_back(quota_table_of(rule));
        if (rule.kind == LimitKind::limit) rules.push_back(limit_table_of(rule));
        if (rule.kind != LimitKind::maintenance) continue;
        out.add({"governance.maintenance.reason"}, quoted(rule.reason));
        out.add({"governance.maintenance.submits"},
                quoted(rule.refuses_submits ? "refuse" : "take"));
    }
    for (const auto& [name, tenants] : governance.profiles) profiles.push_back({name, tenants});
    show_tables(out, "governance.quota", quota_table_rows(), quotas);
    show_tables(out, "governance.limit", limit_table_rows(), rules);
    show_tables(out, "governance.profile", profile_table_rows(), profiles);
}

}  // namespace sluice
