#pragma once

#include <functional>
#include <string>
#include <vector>

#include "chaos/episode.hpp"

namespace sluice::chaos {

// One client that is also the worker, and does the same operations in every run, one after the
// other. An operation with an unknown outcome is repeated, with the same key.
class Script {
  public:
    // `revive`: called when there was no answer; starts the engine again if it is gone.
    Script(Episode& episode, std::function<void()> revive);

    void run(int operations);

    // Ends all jobs.
    void settle();

  private:
    struct Held {
        std::string lease{};
        std::string job{};
        std::int64_t lines = 0;
    };

    nodes::Answer ask(const nodes::Call& call);
    void step();
    e2e::Fields new_job();
    void submit();
    void submit_batch();
    void claim(int limit);
    void cancel();
    void replay();
    void read();
    void change_limits();
    nodes::Answer change_limit(const std::string& path, e2e::Fields body);
    void heartbeat(Held& held);
    void log(Held& held);
    void report(Held& held);
    nodes::Answer say(const Held& held, const std::string& op, const e2e::Fields& body,
                      e2e::Fields args = {});

    Episode& episode_;
    std::function<void()> revive_;
    nodes::Caller caller_;
    simulation::Dice& dice_;
    std::vector<Held> held_{};
    std::vector<std::string> limits_{};
    int marks_ = 0;
};

}  // namespace sluice::chaos
