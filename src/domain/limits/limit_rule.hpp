#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "domain/jobs/lane.hpp"
#include "domain/values/time.hpp"

namespace sluice {

// Why a rule exists.
enum class LimitKind { maintenance, block, throttle, quota, limit };
std::string_view to_text(LimitKind kind);
std::optional<LimitKind> parse_limit_kind(std::string_view text);

// Fields of a lane by which a rule covers jobs, and by which it counts them apart.
enum class Dimension { tenant, type, queue, source };
inline constexpr Dimension all_dimensions[] = {Dimension::tenant, Dimension::type, Dimension::queue,
                                               Dimension::source};
std::string_view to_text(Dimension dimension);
std::optional<Dimension> parse_dimension(std::string_view text);
const std::string& value_of(const Lane& lane, Dimension dimension);

// Whether a pattern covers a name: the empty one covers all names, "scan.*" those that begin with
// "scan.", and any other one the name that it is.
bool covers(std::string_view pattern, std::string_view name);
// Whether a pattern is a beginning of names, such as "scan.*".
bool is_prefix(std::string_view pattern);

// The lanes that a rule is about: all of those whose fields its patterns cover.
struct LimitScope {
    std::string tenant{};
    std::string type{};
    std::string queue{};
    std::string source{};

    bool operator==(const LimitScope&) const = default;

    const std::string& pattern(Dimension dimension) const;
    bool covers(const Lane& lane) const;
};

// The dimensions by whose values a rule counts: one meter for each combination that shows up.
class CountedBy {
  public:
    constexpr CountedBy() = default;
    constexpr CountedBy(std::initializer_list<Dimension> dimensions) {
        for (const Dimension dimension : dimensions) add(dimension);
    }
    constexpr void add(Dimension dimension) { bits_ |= bit(dimension); }
    constexpr bool has(Dimension dimension) const { return (bits_ & bit(dimension)) != 0; }
    constexpr bool operator==(const CountedBy&) const = default;

  private:
    static constexpr unsigned bit(Dimension dimension) {
        return 1u << static_cast<unsigned>(dimension);
    }
    unsigned bits_ = 0;
};

// So many starts in a period, and `burst` at once after a rest. With `whole_hour`, also no more
// than `count` in any hour.
struct LimitRate {
    std::int64_t count = 1;
    Duration period{};
    std::int64_t burst = 1;
    bool whole_hour = false;

    bool operator==(const LimitRate&) const = default;
};

// The bucket of a rate for which none was given: one second's worth, at least 1. For a number of
// any hour: a minute's worth.
std::int64_t default_burst(const LimitRate& rate);

// The rate of a quota: so many starts in any hour. Without `burst`: a minute's worth at once.
LimitRate hourly_rate(std::int64_t count, std::optional<std::int64_t> burst);

// By what a quota with this scope counts: each tenant apart, and by its type when it is for one, so
// that people are told of both.
CountedBy counted_by_of_quota(const LimitScope& scope);

// A rule about which jobs may run now. A job may start when every rule that covers its lane permits
// it.
struct LimitRule {
    std::string id{};  // 24 hex digits
    LimitKind kind = LimitKind::limit;
    std::string name{};     // for people; of a rule from the configuration: its name there
    std::string profile{};  // of a quota: it holds for the tenants that are given this profile
    LimitScope scope{};
    CountedBy per{};
    std::optional<std::int64_t> max_active{};  // jobs under a lease at once
    std::optional<LimitRate> rate{};           // of starts
    bool paused = false;                       // nothing starts
    bool refuses_submits = false;              // of maintenance, or of a blocked tenant
    std::optional<Timestamp> until{};          // it is to be lifted then
    bool configured = false;                   // it comes from the configuration
    std::string reason{};
    std::string ticket{};
    std::string actor{};
    Timestamp since{};
    std::int64_t revision = 0;  // counts its changes

    bool operator==(const LimitRule&) const = default;

    // Whether its end has come.
    bool is_to_be_lifted(Timestamp now) const { return until && *until <= now; }
    // When it has no effect any more by time alone. A quota holds until it is lifted: another one
    // takes its place then, and until then there would be none.
    Timestamp over_at() const { return kind == LimitKind::quota ? never : until.value_or(never); }
    bool is_over(Timestamp now) const { return over_at() <= now; }
    // Whether it counts anything: else it only pauses.
    bool has_meter() const { return max_active || rate; }
};

}  // namespace sluice
