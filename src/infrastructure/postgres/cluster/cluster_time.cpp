#include "infrastructure/postgres/cluster/cluster_time.hpp"

#include <algorithm>
#include <utility>

namespace sluice::postgres {
namespace {

using namespace std::chrono_literals;

// A difference that is no larger than this and the error of the reading together is followed slowly
// (SystemClock): clocks drift, and are slewed.
constexpr Duration drift_max = 250ms;

// While a node lives, the latest time that was written is not older than this.
constexpr Duration written_lately = look_period + 500ms;

// Two looks of a watch that are look_period apart may be sent so much closer.
constexpr Duration jitter = 100ms;

// When nothing was written for so long, no settled node lives.
constexpr Duration quiet = 2 * look_period - 500ms;

// Whether the reading goes on from the time that nodes have written.
bool is_even(const ClockReading& reading) {
    const Duration since = reading.time() - reading.latest;
    return since >= -(drift_max + reading.trip) && since <= written_lately + reading.trip;
}

bool is_believable(const ClockReading& reading) {
    return is_even(reading) || reading.latest == Timestamp{};
}

}  // namespace

ClusterTime::ClusterTime(SinceBoot since_boot) : since_boot_(std::move(since_boot)) {}

Timestamp ClusterTime::now() const {
    return from_micros(micros_at_boot_) + since_boot_();
}

void ClusterTime::note_start(const ClockReading& reading) {
    if (!first_ || reading.seats != seats_) seats_at_ = reading.at;
    if (!first_) first_ = reading;
    seats_ = reading.seats;
    note_latest(reading);
}

bool ClusterTime::is_alone(const ClockReading& reading) const {
    return reading.seats == 0 || reading.at >= seats_at_ + silent_start;
}

// Nodes that live and write no time have just started, too.
bool ClusterTime::waits(const ClockReading& reading) {
    note_start(reading);
    if (is_believable(reading) || is_alone(reading)) return false;
    const bool others_told = reading.latest != first_->latest;
    return reading.at < first_->at + (others_told ? 1 : 2) * start_patience;
}

// When other nodes have written their time meanwhile, and none has corrected the row, the node goes
// on from that time. Else no other node lives, and the server's clock counts.
std::optional<ClockCorrection> ClusterTime::begin(const ClockReading& reading) {
    note_start(reading);
    const bool others_told = !is_believable(reading) && reading.latest != first_->latest;
    const Timestamp time = others_told ? latest_ + (reading.at - latest_at_)
                                       : std::max(reading.time(), reading.latest);
    set(time, reading.at);
    corrections_ = reading.corrections;
    began_at_ = reading.at;
    is_settled_ = is_alone(reading);
    is_known_ = true;
    const bool fits = std::chrono::abs(time - reading.time()) <= drift_max + reading.trip;
    if (!is_settled_ || fits) return std::nullopt;
    return ClockCorrection{.ahead = time - reading.server, .after = reading.corrections};
}

// When a node and the server differ, either may be wrong. The node stood still, and its time since
// boot with it, as in a virtual machine, when it is behind the time that other nodes have written,
// or when other nodes find the server's clock right. A row that was corrected since the last look
// is right, if it goes on from the time that nodes have written. Else the server's clock was set.
// Before the node says so, the other nodes get the time for one look.
std::optional<ClockCorrection> ClusterTime::look(const ClockReading& reading, bool is_last) {
    settle(reading);
    const bool is_corrected =
        std::exchange(corrections_, reading.corrections) != reading.corrections;
    const std::optional<Suspicion> before = std::exchange(suspicion_, std::nullopt);
    const Timestamp own = from_micros(micros_at_boot_) + reading.at;
    const Duration unsure = drift_max + reading.trip;
    const bool is_seen_again = before && reading.sent_at() + jitter >= before->since + look_period;
    if (std::chrono::abs(reading.time() - own) <= unsure) {
        follow(reading);
        return std::nullopt;
    }
    if (own + unsure + written_lately < reading.latest) {
        set(std::clamp(reading.time(), reading.latest, reading.latest + written_lately),
            reading.at);
        return std::nullopt;
    }
    if (is_even(reading) && (is_corrected || (before && before->agreements < reading.agreements))) {
        set(reading.time(), reading.at);
        return std::nullopt;
    }
    suspicion_ = before.value_or(Suspicion{reading.sent_at(), reading.agreements});
    if (!is_settled_ || (!is_seen_again && !is_last)) return std::nullopt;
    return ClockCorrection{.ahead = own - reading.server, .after = reading.corrections};
}

void ClusterTime::set(Timestamp now) {
    set(now, since_boot_());
    is_known_ = true;
}

void ClusterTime::set(Timestamp time, Duration at) {
    micros_at_boot_ = to_micros(time - at);
}

void ClusterTime::note_latest(const ClockReading& reading) {
    if (std::exchange(latest_, reading.latest) != reading.latest) latest_at_ = reading.at;
}

void ClusterTime::settle(const ClockReading& reading) {
    if (is_settled_) return;
    note_latest(reading);
    const Duration since = std::max(latest_at_, began_at_);
    is_settled_ = reading.at >= since + quiet || reading.at >= began_at_ + start_patience;
}

// A measurement that took much longer than recent ones is left aside: the time since boot is the
// better guess then. The limit sinks to twice the quickest measurement, and rises again slowly
// where none is as quick.
void ClusterTime::follow(const ClockReading& reading) {
    if (reading.trip > quick_) {
        quick_ += quick_ / 8;
        return;
    }
    quick_ = std::max(2 * reading.trip, Duration(200us));
    set(reading.time(), reading.at);
}

}  // namespace sluice::postgres
