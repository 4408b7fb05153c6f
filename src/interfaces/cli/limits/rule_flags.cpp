#include "interfaces/cli/limits/rule_flags.hpp"

#include <fmt/format.h>

#include <map>

#include "domain/values/duration_text.hpp"
#include "domain/values/time.hpp"
#include "interfaces/cli/framework/command_error.hpp"
#include "interfaces/cli/terminal/display_text.hpp"

namespace sluice::cli {
namespace {

constexpr const char* none = "none";

const std::vector<std::string>& dimensions() {
    static const std::vector<std::string> names{"tenant", "type", "queue", "source"};
    return names;
}

// A number, or null for "none"; nothing is written when the flag was not given.
void write_count(JsonWriter& json, const char* name, const char* flag, const std::string& text) {
    if (text.empty()) return;
    if (text == none) return json.raw_field(name, "null");
    if (const auto count = parse_integer(text)) return json.field(name, *count);
    throw CommandError(
        exit_usage, fmt::format("{} \"{}\": write a whole number, or none", flag, printable(text)));
}

// The period of "100/s" or "3/500ms", by the part after the slash.
std::optional<std::int64_t> period_of(const std::string& text) {
    static const std::map<std::string, std::int64_t> units{
        {"s", 1000},       {"sec", 1000},       {"second", 1000}, {"m", 60'000},
        {"min", 60'000},   {"minute", 60'000},  {"h", 3'600'000}, {"hour", 3'600'000},
        {"d", 86'400'000}, {"day", 86'400'000}, {"ms", 1}};
    if (const auto unit = units.find(text); unit != units.end()) return unit->second;
    const auto duration = parse_duration(text);
    return duration ? std::optional(to_millis(*duration)) : std::nullopt;
}

void write_text(JsonWriter& json, const char* name, const std::string& text) {
    if (!text.empty()) json.field(name, text);
}

void add_max_active(Command& command, BoundFlags& flags) {
    command.add_option("--max-active", &flags.max_active, "N", "At most so many run at once");
}

}  // namespace

void add_change_flags(Command& command, ChangeFlags& flags) {
    command.add_option("--reason", &flags.reason, "TEXT", "Why; required, and kept for audit");
    command.add_option("--ticket", &flags.ticket, "ID",
                       "The ticket that asks for it; none: the rule no longer names one");
    command.add_flag("--dry-run", &flags.dry_run,
                     "Change nothing; say what would be held back or let go now");
    add_common_flags(command, flags.common);
}

void add_revision_flag(Command& command, ChangeFlags& flags) {
    command.add_option("--if-revision", &flags.if_revision, "N",
                       "Only while the rule has this revision; else exit code 6");
}

std::string change_body(const ChangeFlags& flags, const std::function<void(JsonWriter&)>& write) {
    if (flags.reason.empty()) {
        throw CommandError(exit_usage, "--reason is required: say why, for the audit");
    }
    return json_object_text([&](JsonWriter& json) {
        if (write) write(json);
        json.field("reason", flags.reason);
        if (flags.ticket == none) {
            json.raw_field("ticket", "null");
        } else {
            write_text(json, "ticket", flags.ticket);
        }
        if (flags.dry_run) json.field("dry_run", true);
    });
}

void add_scope_flags(Command& command, ScopeFlags& flags) {
    command.add_option("--type", &flags.type, "TYPE", "Jobs of this type; scan.*: that begin so");
    command.add_option("--queue", &flags.queue, "NAME", "Jobs in this queue");
    command.add_option("--source", &flags.source, "NAME", "Jobs from this source");
}

void add_per_flag(Command& command, ScopeFlags& flags) {
    command.add_option("--per", &flags.per, "A,B",
                       "Count them apart by tenant, type, queue, source; several with commas "
                       "(default: all together)");
}

void write_scope(JsonWriter& json, const ScopeFlags& flags, const std::string& tenant) {
    write_text(json, "tenant", tenant);
    write_text(json, "type", flags.type);
    write_text(json, "queue", flags.queue);
    write_text(json, "source", flags.source);
    const std::vector<std::string> per = comma_list(flags.per);
    for (const std::string& name : per) check_word("--per", name, dimensions());
    if (!per.empty()) json.list("per", per);
}

void add_limit_bounds(Command& command, BoundFlags& flags) {
    add_max_active(command, flags);
    command.add_option("--rate", &flags.rate, "N/TIME",
                       "So many start in a time: 100/s, 100/min, 5000/h, 3/500ms");
    command.add_option("--burst", &flags.burst, "N",
                       "With --rate: so many may start at once (default: one second's worth)");
}

void add_quota_bounds(Command& command, BoundFlags& flags) {
    add_max_active(command, flags);
    command.add_option("--max-per-hour", &flags.max_per_hour, "N",
                       "At most so many start in any hour");
    command.add_option("--burst", &flags.burst, "N",
                       "So many of them may start at once (default: a minute's worth)");
}

void write_limit_bounds(JsonWriter& json, const BoundFlags& flags) {
    write_count(json, "max_active", "--max-active", flags.max_active);
    if (flags.rate == none) return json.raw_field("rate", "null");
    if (flags.rate.empty() && flags.burst.empty()) return;
    json.object("rate", [&] {
        if (!flags.rate.empty()) {
            const RateText rate = parse_rate(flags.rate);
            json.field("count", rate.count);
            json.field("period_ms", rate.period_ms);
        }
        write_count(json, "burst", "--burst", flags.burst);
    });
}

void write_quota_bounds(JsonWriter& json, const BoundFlags& flags) {
    write_count(json, "max_active", "--max-active", flags.max_active);
    write_count(json, "max_per_hour", "--max-per-hour", flags.max_per_hour);
    write_count(json, "burst", "--burst", flags.burst);
}

void add_until_flag(Command& command, std::string& until) {
    command.add_option("--until", &until, "TIME|DURATION",
                       "It ends by itself then: 30m, 2h, or 2026-11-15T18:00:00Z");
}

void write_until(JsonWriter& json, const std::string& until) {
    if (until.empty()) return;
    if (until == none) return json.raw_field("until", "null");
    json.field("until", moment_flag("--until", until, 1));
}

RateText parse_rate(const std::string& text) {
    const std::size_t slash = text.find('/');
    const auto count = parse_integer(text.substr(0, slash));
    const auto period =
        slash == std::string::npos ? std::nullopt : period_of(text.substr(slash + 1));
    if (count && period) return {*count, *period};
    throw CommandError(exit_usage,
                       fmt::format("--rate \"{}\" is no rate; write it like 100/s, 100/min, 5000/h "
                                   "or 3/500ms",
                                   printable(text)));
}

std::string rate_text(const RateText& rate) {
    static const std::map<std::int64_t, const char*> units{
        {1000, "s"}, {60'000, "min"}, {3'600'000, "h"}, {86'400'000, "d"}};
    const auto unit = units.find(rate.period_ms);
    return fmt::format(
        "{}/{}", rate.count,
        unit != units.end() ? unit->second : duration_text(from_millis(rate.period_ms)));
}

}  // namespace sluice::cli
