#include "operator/doctor_limits.hpp"

#include <fmt/format.h>

#include <cstdlib>

#include "application/ports/job_reader.hpp"
#include "config/config_flags.hpp"
#include "config/store_url.hpp"
#include "config/values.hpp"
#include "infrastructure/system/system_clock.hpp"
#include "interfaces/cli/framework/common_flags.hpp"
#include "interfaces/cli/terminal/json_object.hpp"
#include "operator/open_store.hpp"
#include "sluice/client.hpp"

namespace sluice {
namespace {

constexpr std::size_t differences_named = 10;
constexpr const char* rules_subject = "rules";
constexpr const char* meters_subject = "meters";

std::string whose(const LimitRule& rule) {
    const std::string author = rule.configured ? "the configuration" : rule.actor;
    std::string text = fmt::format("since {}, by {}", to_rfc3339(rule.since), author);
    if (!rule.ticket.empty()) text += fmt::format(", ticket {}", rule.ticket);
    if (rule.until) text += fmt::format(", until {}", to_rfc3339(*rule.until));
    return rule.reason.empty() ? text : fmt::format("{}: {}", text, rule.reason);
}

void tell_of_halt(const LimitRule& rule, Findings& out) {
    const std::string& tenant = rule.scope.tenant;
    if (rule.kind == LimitKind::maintenance) {
        out.doubtful(
            "maintenance",
            fmt::format("no job starts{}{} ({})", tenant.empty() ? "" : " of tenant " + tenant,
                        rule.refuses_submits ? ", and none is taken" : "", whose(rule)),
            fmt::format("when it is over: sluice maintenance end{} --reason …",
                        tenant.empty() ? "" : " --tenant " + tenant));
    } else {
        out.doubtful(
            "tenant", fmt::format("{} is blocked ({})", tenant, whose(rule)),
            fmt::format("when it may work again: sluice tenant unblock {} --reason …", tenant));
    }
}

void tell_of_rules(const LimitRules& rules, Timestamp now, Findings& out) {
    if (rules.empty()) return out.good(rules_subject, "none: every job may start");
    out.good(rules_subject,
             fmt::format("{} say what may run; sluice limit list shows them", rules.all().size()));
    for (const LimitRule& rule : rules.all()) {
        const bool is_halt = rule.kind == LimitKind::maintenance || rule.kind == LimitKind::block;
        if (is_halt && !rule.is_over(now)) tell_of_halt(rule, out);
    }
}

std::string token_of_environment() {
    cli::ConnectionFlags flags;
    flags.token = environment("SLUICE_TOKEN").value_or("");
    return cli::token_of(flags);
}

client::Client engine_of(const Config& config) {
    const std::string host = config.server.host == "0.0.0.0" ? "127.0.0.1" : config.server.host;
    const client::Millis patience(0), timeout(5000);
    return client::Client({.server = url_text(config.server, host, config.server.port),
                           .token = token_of_environment(),
                           .timeout = timeout,
                           .patience = patience,
                           .ca_file = config.server.tls.certificate});
}

void tell_of_differences(const std::string& answer, Findings& out) {
    const auto differences = cli::JsonObject(answer).elements("differences");
    if (differences.empty()) return out.good(meters_subject, "agree with the leases");
    for (std::size_t i = 0; i < differences.size() && i < differences_named; ++i) {
        const cli::JsonObject difference(differences[i]);
        const std::string meter = difference.text("meter");
        out.bad(meters_subject,
                fmt::format("rule {}{}{}: {} are counted, and {} leased", difference.text("rule"),
                            meter.empty() ? "" : ", ", meter, difference.text("counted"),
                            difference.text("leased")),
                "sluice limit check --repair; and report it: this should never happen");
    }
    if (differences.size() > differences_named) {
        out.bad(meters_subject,
                fmt::format("{} more differ", differences.size() - differences_named),
                "sluice limit check names them");
    }
}

// SQLite's meters are in the engine's memory, and made from the leases.
void tell_that_none_runs(const Config& config, Findings& out) {
    out.good(meters_subject, is_postgres(config.store)
                                 ? "are compared with the leases while an engine runs"
                                 : "are counted anew from the leases when the engine starts");
}

void compare_meters(const Config& config, Findings& out) {
    try {
        tell_of_differences(
            engine_of(config).call("POST", "/api/v1/limits/check", R"({"repair":false})", false),
            out);
    } catch (const client::Error& error) {
        if (error.status() == 0) return tell_that_none_runs(config, out);
        out.doubtful(meters_subject,
                     fmt::format("were not compared with the leases: {}", error.what()),
                     "sluice limit check compares them, with a token for it in SLUICE_TOKEN");
    }
}

}  // namespace

void look_at_rules(const Config& config, Findings& out) {
    try {
        if (config.store == "memory:" || !store_exists(config)) return;
        const auto reader = open_reader(config);
        const auto rules = reader->limits().limit_rules();
        tell_of_rules(*rules, SystemClock().now(), out);
        if (!rules->empty()) compare_meters(config, out);
    } catch (const std::exception&) {
        // Problems of the store were reported before.
    }
}

}  // namespace sluice
