#include "infrastructure/postgres/cluster_time.hpp"

#include <algorithm>
#include <utility>

namespace sluice::postgres {
namespace {

using namespace std::chrono_literals;

// A difference that is no larger, beside what the reading itself may be off by, is followed slowly
// (SystemClock): clocks drift, and are slewed.
constexpr Duration drift_max = 250ms;

// While a node lives, the latest time that was written is not older than this.
constexpr Duration written_lately = look_period + 500ms;

// Whether the reading goes on from what nodes have written. A node that has started a moment after
// the clock was set may have written a time that is wrong by as much.
bool is_even(const ClockReading& reading) {
    return std::chrono::abs(reading.time() - reading.latest) <= written_lately + reading.trip;
}

}  // namespace

ClusterTime::ClusterTime(SinceBoot since_boot) : since_boot_(std::move(since_boot)) {}

Timestamp ClusterTime::now() const {
    return from_micros(micros_at_boot_) + since_boot_();
}

bool ClusterTime::is_believable(const ClockReading& reading) {
    return is_even(reading) || reading.latest == Timestamp{};
}

std::optional<ClockCorrection> ClusterTime::begin(const ClockReading& reading) {
    corrections_ = reading.corrections;
    set(std::max(reading.time(), reading.latest), reading.at);
    is_known_ = true;
    settled_at_ = reading.at + start_patience;
    const bool was_set_back = reading.time() < reading.latest && !is_even(reading);
    if (!was_set_back) return std::nullopt;
    return ClockCorrection{.ahead = reading.latest - reading.server, .after = reading.corrections};
}

// Of a node and the server, which differ, either may be wrong. A node stood still, and so did its
// time since boot, as that of a virtual machine may, when it is behind what others have written, or
// when others find the server's clock right. A row that was corrected since the last look is right,
// if it goes on from what nodes have written. Else the server's clock was set. Others that live get
// the time for a look before that is said.
std::optional<ClockCorrection> ClusterTime::look(const ClockReading& reading) {
    const bool is_corrected =
        std::exchange(corrections_, reading.corrections) != reading.corrections;
    const std::optional<Suspicion> before = std::exchange(suspicion_, std::nullopt);
    const Timestamp own = from_micros(micros_at_boot_) + reading.at;
    const Duration unsure = drift_max + reading.trip;
    if (std::chrono::abs(reading.time() - own) <= unsure) {
        follow(reading);
    } else if (own + unsure + written_lately < reading.latest) {
        set(std::clamp(reading.time(), reading.latest, reading.latest + written_lately),
            reading.at);
    } else if (is_even(reading) &&
               (is_corrected || (before && before->agreements < reading.agreements))) {
        set(reading.time(), reading.at);
    } else if (!before || reading.at < before->since + look_period) {
        suspicion_ = before.value_or(Suspicion{reading.at, reading.agreements});
    } else {
        suspicion_ = before;
        return ClockCorrection{.ahead = own - reading.server, .after = reading.corrections};
    }
    return std::nullopt;
}

void ClusterTime::set(Timestamp now) {
    set(now, since_boot_());
    is_known_ = true;
}

void ClusterTime::set(Timestamp time, Duration at) {
    micros_at_boot_ = to_micros(time - at);
}

// A measure that took much longer than others lately is left aside: the time since boot is the
// better guess then. The bar sinks to twice the quickest measure, and rises again by and by where
// none is as quick.
void ClusterTime::follow(const ClockReading& reading) {
    if (reading.trip > quick_) {
        quick_ += quick_ / 8;
        return;
    }
    quick_ = std::max(2 * reading.trip, Duration(200us));
    set(reading.time(), reading.at);
}

}  // namespace sluice::postgres
