#pragma once

#include <deque>
#include <memory>
#include <optional>
#include <vector>

#include "application/engine/engine.hpp"
#include "config/config.hpp"
#include "infrastructure/commit/committer_pool.hpp"
#include "infrastructure/postgres/watch/watch.hpp"
#include "infrastructure/system/system_clock.hpp"

namespace sluice {

// The parts that decide and write: the store, an engine and a committer over it, and the clock that
// they use. A store that nodes share has a few committers, and a watch that keeps them in touch
// with those of the other nodes.
class EngineCore {
  public:
    // Opens the store. Throws std::runtime_error with the problem.
    EngineCore(const Config& config, Telemetry& telemetry, Committer::Deliver deliver);
    ~EngineCore();
    EngineCore(const EngineCore&) = delete;
    EngineCore& operator=(const EngineCore&) = delete;

    Clock& clock() { return *clock_; }
    CommandQueue& commands() { return *pool_; }
    Store& store() { return *stores_.front(); }
    const Rules& rules() const { return rules_; }
    const PublishedRules& rules_now() const { return published_; }
    bool is_shared() const { return watch_ != nullptr; }

    // Called now and then on the I/O thread, see CommitterPool.
    void answer_stuck() { pool_->answer_stuck(); }

    // From now on no claim waits.
    void stop_waiting() { pool_->stop_waiting(); }

  private:
    void open_shared(const Config& config, Telemetry& telemetry);

    const Rules rules_;
    PublishedRules published_;
    std::shared_ptr<postgres::Cluster> cluster_;
    std::unique_ptr<Clock> clock_;
    std::vector<std::unique_ptr<Store>> stores_;  // one for each committer
    std::optional<HeartbeatDelays> delays_;
    std::deque<Engine> engines_;
    std::unique_ptr<postgres::Watch> watch_;  // the committers speak to it to their end
    std::vector<std::unique_ptr<Committer>> committers_;
    std::unique_ptr<CommitterPool> pool_;
};

}  // namespace sluice
