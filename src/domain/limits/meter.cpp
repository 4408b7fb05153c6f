#include "domain/limits/meter.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdlib>
#include <utility>

namespace sluice {
namespace {

constexpr std::int64_t slot_micros = 30'000'000;
constexpr std::int64_t slots_in_an_hour = 121;
constexpr std::int64_t slot_max = INT64_MAX / slot_micros;
constexpr std::int64_t owed_ns_max = 1'000'000'000'000'000'000;  // 31 years

std::int64_t slot_of(Timestamp time) {
    return to_micros(time) / slot_micros;
}

// Rounded up, so that a bucket is never quicker than its rate.
std::int64_t interval_ns(const LimitRate& rate) {
    const std::int64_t period = rate.period.count() * 1000;
    return std::max<std::int64_t>(1, (period + rate.count - 1) / rate.count);
}

// Times up to the year 2223 have a number of nanoseconds.
std::int64_t to_ns(Timestamp time) {
    constexpr std::int64_t micros_max = 8'000'000'000'000'000;
    return std::clamp(to_micros(time), -micros_max, micros_max) * 1000;
}

Timestamp from_ns(std::int64_t ns) {
    return from_micros((ns + 999) / 1000);
}

std::int64_t full_when_empty(const LimitRate& rate, Timestamp now) {
    return to_ns(now) + rate.burst * interval_ns(rate);
}

// When the bucket is full again; not later than if it were empty now.
std::int64_t full_at(const LimitRate& rate, const MeterState& meter, Timestamp now) {
    return std::clamp(meter.full_at_ns, to_ns(now), full_when_empty(rate, now));
}

// When nothing is owed any more. A bucket that is more than empty shows how far the clock was set
// back.
std::int64_t owed_until(const LimitRate& rate, const MeterState& meter, Timestamp now) {
    const std::int64_t back =
        std::max<std::int64_t>(0, meter.full_at_ns - full_when_empty(rate, now));
    const std::int64_t owed =
        std::clamp<std::int64_t>(meter.owed_until_ns, 0, to_ns(now) + owed_ns_max);
    return std::max(full_at(rate, meter, now), owed - back);
}

void set_bucket(MeterState& meter, std::int64_t full_at_ns, std::int64_t owed_until_ns) {
    meter.full_at_ns = full_at_ns;
    meter.owed_until_ns = owed_until_ns > full_at_ns ? owed_until_ns : 0;
}

void narrow(Room& room, std::int64_t count, Bound bound, std::optional<Timestamp> not_before,
            Timestamp look_again) {
    count = std::max<std::int64_t>(count, 0);
    if (room.count > 0 || count > 0) {
        if (count < room.count) room = {count, bound, not_before, look_again};
        return;
    }
    // Both are closed: the later moment counts, and one that is not known does not. A pause is
    // named whatever else holds back.
    if (not_before && (!room.not_before || *room.not_before < *not_before)) {
        if (room.bound != Bound::pause) room.bound = bound;
        room.not_before = not_before;
    }
    room.look_again = std::max(room.look_again, look_again);
}

}  // namespace

// ── the last hour ──

// Returns the present slot. Nodes do not agree to the millisecond: by the time of one of them it
// may be the one before the last. After the clock was set back, later slots move to the present
// one.
std::int64_t StartsOfHour::move_to(std::int64_t slot) {
    if (!slots_.empty() && slots_.back().first == slot + 1) ++slot;
    if (!slots_.empty() && slots_.back().first > slot) {
        const std::int64_t by = slots_.back().first - slot;
        for (auto& entry : slots_) entry.first -= by;
    }
    std::erase_if(slots_,
                  [&](const auto& entry) { return entry.first <= slot - slots_in_an_hour; });
    return slot;
}

void StartsOfHour::settle(Timestamp now) {
    if (!slots_.empty() && slots_.back().first > slot_of(now)) move_to(slot_of(now));
}

void StartsOfHour::add(Timestamp now, std::int64_t count) {
    const std::int64_t slot = move_to(slot_of(now));
    if (slots_.empty() || slots_.back().first != slot) slots_.emplace_back(slot, 0);
    slots_.back().second += count;
}

std::int64_t StartsOfHour::sum(Timestamp now) const {
    const std::int64_t slot = slot_of(now);
    std::int64_t sum = 0;
    for (const auto& [at, count] : slots_) {
        const bool is_over = slots_.back().first <= slot && at <= slot - slots_in_an_hour;
        if (!is_over) sum += count;
    }
    return sum;
}

Timestamp StartsOfHour::when_fits(std::int64_t count, std::int64_t limit, Timestamp now) const {
    StartsOfHour seen = *this;
    seen.move_to(slot_of(now));
    std::int64_t left = seen.sum(now) + count - limit;
    for (const auto& [slot, starts] : seen.slots_) {
        if (left <= 0) break;
        left -= starts;
        now = from_micros((slot + slots_in_an_hour) * slot_micros);
    }
    return left <= 0 ? now : never;
}

std::string StartsOfHour::text() const {
    std::string text;
    std::int64_t before = 0;
    char digits[24];
    const auto add = [&](std::int64_t number, char end) {
        char* const after = std::to_chars(std::begin(digits), std::end(digits), number).ptr;
        text.append(digits, after);
        text += end;
    };
    for (const auto& [slot, count] : slots_) {
        add(slot - std::exchange(before, slot), ':');
        add(count, ',');
    }
    if (!text.empty()) text.pop_back();
    return text;
}

StartsOfHour StartsOfHour::parse(std::string_view text) {
    StartsOfHour starts;
    const char* at = text.data();
    const char* const end = at + text.size();
    std::int64_t before = 0;
    while (at < end) {
        std::int64_t distance = 0, count = 0;
        at = std::from_chars(at, end, distance).ptr;
        if (at == end || *at++ != ':') break;
        at = std::from_chars(at, end, count).ptr;
        const bool is_first = starts.slots_.empty();
        const bool is_damaged =
            is_first ? std::abs(distance) > slot_max : distance < 1 || distance > slots_in_an_hour;
        if (is_damaged) break;
        before += distance;
        starts.slots_.emplace_back(before, count);
        if (at < end && *at++ != ',') break;
    }
    return starts;
}

// ── the decision ──

std::int64_t tokens_of(const LimitRate& rate, const MeterState& meter, Timestamp now) {
    const std::int64_t interval = interval_ns(rate);
    const std::int64_t missing = full_at(rate, meter, now) - to_ns(now);
    return rate.burst - (missing + interval - 1) / interval;
}

Room room_of(const LimitRule& rule, const MeterState& meter, Timestamp now) {
    Room room;
    const Timestamp over = rule.over_at();
    if (over <= now) return room;
    const std::optional<Timestamp> end =
        rule.until ? std::optional(std::max(*rule.until, now)) : std::nullopt;
    if (rule.paused) narrow(room, 0, Bound::pause, end, over);
    if (rule.max_active) {
        narrow(room, *rule.max_active - meter.active, Bound::active, std::nullopt, over);
    }
    if (rule.rate) {
        const LimitRate& rate = *rule.rate;
        const std::int64_t tokens = tokens_of(rate, meter, now);
        const std::int64_t next = full_at(rate, meter, now) - (rate.burst - 1) * interval_ns(rate);
        const Timestamp refill = from_ns(next);
        narrow(room, tokens, Bound::rate, std::min(refill, end.value_or(never)),
               std::min(refill, over));
        if (rate.whole_hour) {
            const std::int64_t left = rate.count - meter.starts.sum(now);
            const Timestamp fits = left > 0 ? now : meter.starts.when_fits(1, rate.count, now);
            narrow(room, left, Bound::hour, std::min(fits, end.value_or(never)),
                   std::min(fits, over));
        }
    }
    return room;
}

void settle(const LimitRule& rule, MeterState& meter, Timestamp now) {
    if (!rule.rate) return;
    const std::int64_t when_empty = std::max<std::int64_t>(full_when_empty(*rule.rate, now), 0);
    if (meter.full_at_ns > when_empty) {
        set_bucket(meter, when_empty, owed_until(*rule.rate, meter, now));
    }
    meter.starts.settle(now);
}

void follow_rate(const LimitRate& before, const LimitRate& after, MeterState& meter,
                 Timestamp now) {
    const std::int64_t interval = interval_ns(before);
    const std::int64_t missing = owed_until(before, meter, now) - to_ns(now);
    if (missing == 0) return;
    const std::int64_t interval_after = interval_ns(after);
    const std::int64_t tokens = std::min(missing / interval, owed_ns_max / interval_after);
    const double part = static_cast<double>(missing % interval) / static_cast<double>(interval);
    const std::int64_t owed =
        to_ns(now) + tokens * interval_after +
        static_cast<std::int64_t>(std::ceil(part * static_cast<double>(interval_after)));
    set_bucket(meter, std::min(owed, full_when_empty(after, now)), owed);
}

bool is_rested(const MeterState& meter, Timestamp now) {
    return std::max(meter.full_at_ns, meter.owed_until_ns) <= to_ns(now) &&
           meter.starts.sum(now) == 0;
}

void note_start(const LimitRule& rule, MeterState& meter, Timestamp now) {
    note_starts(rule, meter, now, 1);
}

void note_end(const LimitRule& rule, MeterState& meter) {
    if (rule.max_active) --meter.active;
}

void note_starts(const LimitRule& rule, MeterState& meter, Timestamp now, std::int64_t count) {
    if (count <= 0) return;
    if (rule.max_active) meter.active += count;
    if (!rule.rate) return;
    const std::int64_t taken = count * interval_ns(*rule.rate);
    const std::int64_t owed = owed_until(*rule.rate, meter, now) + taken;
    set_bucket(meter, full_at(*rule.rate, meter, now) + taken, owed);
    if (rule.rate->whole_hour) meter.starts.add(now, count);
}

}  // namespace sluice
