#pragma once

#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "domain/limits/limit_rule.hpp"

namespace sluice {

// The starts of the last hour, in slots of 30 seconds. An hour touches 121 slots, all of which
// count: so a sum of at most n is kept in every hour, at the price of 30 seconds.
class StartsOfHour {
  public:
    void add(Timestamp now, std::int64_t count);
    std::int64_t sum(Timestamp now) const;
    // When `count` more fit under `limit` by time alone.
    Timestamp when_fits(std::int64_t count, std::int64_t limit, Timestamp now) const;

    // "59123456:3,1:1", for stores: each slot but the first as the distance to the one before.
    std::string text() const;
    static StartsOfHour parse(std::string_view text);

    bool operator==(const StartsOfHour&) const = default;

    // Starts from after `now` count as if they were of now: the clock was set back.
    void settle(Timestamp now);

  private:
    std::int64_t move_to(std::int64_t slot);

    std::vector<std::pair<std::int64_t, std::int64_t>> slots_;  // slot and count, in order
};

// One counter of one rule. What is active is counted only where the rule has max_active, starts
// only where it has a rate.
struct MeterState {
    std::int64_t active = 0;
    // The bucket, as the time in nanoseconds since 1970 at which it is full again: each start moves
    // it by period / count. So nothing is to be done while time passes.
    std::int64_t full_at_ns = 0;
    // When all starts are made up for, if that is later: the bucket was larger once, and lacks more
    // tokens than it has room for now. They are missing when it is made larger again.
    std::int64_t owed_until_ns = 0;
    StartsOfHour starts{};

    bool operator==(const MeterState&) const = default;
};

inline constexpr std::int64_t unbounded = std::numeric_limits<std::int64_t>::max();

// Which bound of a rule holds a job back.
enum class Bound { pause, active, rate, hour };

// How many more jobs a rule permits now, and what holds back the next one.
struct Room {
    std::int64_t count = unbounded;
    Bound bound = Bound::pause;             // if count is 0
    std::optional<Timestamp> not_before{};  // if it is known when one more may start
    Timestamp look_again = never;           // when count may grow by time alone
};

// The one place that decides whether a rule permits a start.
Room room_of(const LimitRule& rule, const MeterState& meter, Timestamp now);

// Makes a meter fit its rule after the clock was set back or the rule was changed: such a bucket is
// empty, and fills from `now` on. Else it would give nothing until the former time is reached.
void settle(const LimitRule& rule, MeterState& meter, Timestamp now);

// The rate of a rule was changed: its bucket goes on lacking as many tokens as before, so that a
// raised rate is felt at once. One that lacks more than it has room for is empty, and what it lacks
// beyond that is owed. So whatever a rate is changed to, in any time no more start than the largest
// of its buckets holds and what comes back by the rates in force meanwhile.
void follow_rate(const LimitRate& before, const LimitRate& after, MeterState& meter, Timestamp now);

// Whether nothing is left of any start: its bucket is full, and nothing started in the last hour.
bool is_rested(const MeterState& meter, Timestamp now);

// A job starts: spends a token and a permit.
void note_start(const LimitRule& rule, MeterState& meter, Timestamp now);

// So many jobs start at once.
void note_starts(const LimitRule& rule, MeterState& meter, Timestamp now, std::int64_t count);

// A job's lease is closed. Tokens are never given back.
void note_end(const LimitRule& rule, MeterState& meter);

// How many tokens the bucket holds.
std::int64_t tokens_of(const LimitRate& rate, const MeterState& meter, Timestamp now);

}  // namespace sluice
