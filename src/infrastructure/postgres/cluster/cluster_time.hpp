#pragma once

#include <atomic>
#include <functional>
#include <optional>

#include "infrastructure/system/boot_clock.hpp"

namespace sluice::postgres {

// Every watch looks at the clock this often.
inline constexpr Duration look_period = std::chrono::seconds(2);

// The row of the table clock beside the server's clock, as one statement has read them.
struct ClockReading {
    Timestamp server{};            // the time on the server's clock
    Duration ahead{};              // cluster time is the server's clock and this
    Timestamp latest{};            // the latest time that a settled node wrote; zero: none
    std::int64_t corrections = 0;  // how often nodes have corrected `ahead`
    std::int64_t agreements = 0;   // how often nodes have found the server's clock as they expected
    Duration at{};                 // since boot: the middle of the round trip
    Duration trip{};               // of the round trip; the reading is off by at most half of it
    // Only at the start of a node: a sum that changes with each seat that is renewed or taken;
    // zero: no other node has a seat that it has not left.
    std::int64_t seats = 0;

    Timestamp time() const { return server + ahead; }
    Duration sent_at() const { return at - trip / 2; }
};

// The values that a node has to write into the row, unless another one has corrected it since the
// reading.
struct ClockCorrection {
    Duration ahead{};
    std::int64_t after = 0;  // corrections, as they were read
};

// The time by which all nodes of a database judge leases, deadlines, seats and the duty. It goes on
// evenly whatever the server's clock does: a node carries it on by the time since boot, and when
// the server's clock has jumped, the first node that is certain of it corrects the row, so that
// nodes that start later read the same time. now() may be called by any thread, all else by one at
// a time.
class ClusterTime {
  public:
    using SinceBoot = std::function<Duration()>;

    explicit ClusterTime(SinceBoot since_boot = sluice::since_boot);

    Timestamp now() const;
    bool is_known() const { return is_known_; }

    // Whether a node that starts has to read the row again. If the reading does not go on from the
    // time that nodes have written, the server's clock may have been set a moment ago, and the
    // living nodes correct the row within a few looks.
    bool waits(const ClockReading& reading);

    // How long a start waits for nodes that have seats and give no sign: they were killed.
    static constexpr Duration silent_start = 3 * look_period;
    // How long a start waits for nodes that live. One look sees the jump and the next one corrects
    // it; some looks may be late. For nodes that have just started it waits for twice as long.
    static constexpr Duration start_patience = 5 * look_period;

    // Starts at the reading, but never before the latest time that was written.
    std::optional<ClockCorrection> begin(const ClockReading& reading);

    // To be called with every look. The last look corrects the row at once: there may be no node
    // that does so later.
    std::optional<ClockCorrection> look(const ClockReading& reading, bool is_last = false);

    // Other nodes may correct the time of a node in its first looks, if the clock was set a moment
    // before its start. Until then the node is not settled: it writes no time, corrects no row and
    // takes no duty.
    bool is_settled() const { return is_settled_; }

    // Whether the node is settled, and its last look found the server's clock as expected.
    bool agrees() const { return is_settled_ && !suspicion_; }

    void set(Timestamp now);

  private:
    // The server's clock seems to have been set.
    struct Suspicion {
        Duration since{};             // boot: when the look was sent
        std::int64_t agreements = 0;  // as they were then
    };

    void set(Timestamp time, Duration at);
    void follow(const ClockReading& reading);
    void note_start(const ClockReading& reading);
    bool is_alone(const ClockReading& reading) const;
    void note_latest(const ClockReading& reading);
    void settle(const ClockReading& reading);

    const SinceBoot since_boot_;
    std::atomic<std::int64_t> micros_at_boot_ = 0;
    std::atomic<bool> is_known_ = false;
    std::int64_t corrections_ = 0;  // as they were read last
    std::optional<Suspicion> suspicion_{};
    std::optional<ClockReading> first_{};  // of the start
    std::int64_t seats_ = 0;               // as they were read last, at the start
    Duration seats_at_{};                  // when they were found changed
    Duration began_at_{};                  // since boot, as all durations here
    Timestamp latest_{};                   // as it was read last, while not settled
    Duration latest_at_{};                 // when it was found changed
    std::atomic<bool> is_settled_ = false;
    Duration quick_ = std::chrono::milliseconds(1);  // longer measurements are not followed
};

}  // namespace sluice::postgres
