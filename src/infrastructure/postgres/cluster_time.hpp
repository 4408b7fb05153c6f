#pragma once

#include <atomic>
#include <functional>
#include <optional>

#include "infrastructure/boot_clock.hpp"

namespace sluice::postgres {

// Every watch looks at the clock this often.
inline constexpr Duration look_period = std::chrono::seconds(2);

// The row of the table clock beside the server's clock, as one statement has read them.
struct ClockReading {
    Timestamp server{};            // what the server's clock showed
    Duration ahead{};              // cluster time is the server's clock and this
    Timestamp latest{};            // the latest cluster time that a node has written; zero: none
    std::int64_t corrections = 0;  // how often nodes have corrected `ahead`
    std::int64_t agreements = 0;   // how often nodes have found the server's clock as they expected
    Duration at{};                 // since boot: the middle of the round trip
    Duration trip{};               // how long it took; the reading is off by half of it at most

    Timestamp time() const { return server + ahead; }
};

// What a node has to write into the row, unless another one has corrected it since the reading.
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

    // Whether a node that starts can go by the reading. If not, and another node lives, the
    // server's clock may have been set a moment ago; the others correct the row within a few looks.
    static bool is_believable(const ClockReading& reading);

    // How long a node that starts waits for them.
    static constexpr Duration start_patience = 3 * look_period;

    // Starts at the reading, but never before the latest time that was written.
    std::optional<ClockCorrection> begin(const ClockReading& reading);

    // To be called with every look.
    std::optional<ClockCorrection> look(const ClockReading& reading);

    // Others may correct the time of a node in its first looks, if the clock was set a moment
    // before it has started.
    bool is_settled() const { return since_boot_() >= settled_at_; }

    // Whether the last look found the server's clock as this node expected, and this node's word
    // counts.
    bool agrees() const { return is_settled() && !suspicion_; }

    void set(Timestamp now);

  private:
    // The server's clock seems to have been set.
    struct Suspicion {
        Duration since{};             // boot
        std::int64_t agreements = 0;  // as they were then
    };

    void set(Timestamp time, Duration at);
    void follow(const ClockReading& reading);

    const SinceBoot since_boot_;
    std::atomic<std::int64_t> micros_at_boot_ = 0;
    std::atomic<bool> is_known_ = false;
    std::int64_t corrections_ = 0;  // as they were read last
    std::optional<Suspicion> suspicion_{};
    Duration settled_at_{};
    Duration quick_ = std::chrono::milliseconds(1);  // what a measure may take to be followed
};

}  // namespace sluice::postgres
