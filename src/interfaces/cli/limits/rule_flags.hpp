#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include "interfaces/cli/framework/common_flags.hpp"
#include "json/json_writer.hpp"

// The flags by which rules are described and changed, and the requests that they become.
namespace sluice::cli {

// Why a change is made, and whether it is only tried.
struct ChangeFlags {
    CommonFlags common{};
    std::string reason{};
    std::string ticket{};
    bool dry_run = false;
    std::string if_revision{};  // of the rule that is changed; empty: the one that it has now
};
void add_change_flags(Command& command, ChangeFlags& flags);
void add_revision_flag(Command& command, ChangeFlags& flags);

// The body of a change: what `write` says, and its reason. Throws when there is no reason.
std::string change_body(const ChangeFlags& flags,
                        const std::function<void(JsonWriter&)>& write = {});

// The jobs that a rule covers, beside those of --tenant; and by what it counts them.
struct ScopeFlags {
    std::string type{};
    std::string queue{};
    std::string source{};
    std::string per{};
};
void add_scope_flags(Command& command, ScopeFlags& flags);
void add_per_flag(Command& command, ScopeFlags& flags);
void write_scope(JsonWriter& json, const ScopeFlags& flags, const std::string& tenant);

// What a rule bounds; "none" takes a bound away. Quotas have a number per hour, other rules a rate.
struct BoundFlags {
    std::string max_active{};
    std::string rate{};
    std::string max_per_hour{};
    std::string burst{};
};
void add_limit_bounds(Command& command, BoundFlags& flags);
void add_quota_bounds(Command& command, BoundFlags& flags);
void write_limit_bounds(JsonWriter& json, const BoundFlags& flags);
void write_quota_bounds(JsonWriter& json, const BoundFlags& flags);

void add_until_flag(Command& command, std::string& until);
void write_until(JsonWriter& json, const std::string& until);  // "none": without an end

// "100/s", "100/min", "5000/h", "3/500ms".
struct RateText {
    std::int64_t count = 0;
    std::int64_t period_ms = 0;
};
RateText parse_rate(const std::string& text);  // throws CommandError
std::string rate_text(const RateText& rate);

}  // namespace sluice::cli
