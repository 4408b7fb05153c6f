#pragma once

#include <condition_variable>
#include <mutex>
#include <optional>
#include <string>
#include <thread>

#include "sluice/client.hpp"

namespace sluice::cli {

// Asks for facts that a job's stream does not have, about once a second on a thread of its own:
// what a queued job waits for, and how far a running one is.
class JobWatcher {
  public:
    struct Seen {
        std::string waiting_for{};  // the first reason's detail; empty: not known yet
        std::string reason{};       // changes when more changes than ages
        std::optional<int> progress{};
        std::string message{};
        std::string worker{};
    };

    JobWatcher(const client::Options& options, std::string id);
    ~JobWatcher();
    JobWatcher(const JobWatcher&) = delete;
    JobWatcher& operator=(const JobWatcher&) = delete;

    // Forgets the facts about the state before, and looks again at once.
    void state_changed(client::State state);

    Seen seen() const;

  private:
    void run();
    void look(client::State state);

    client::Client client_;
    const std::string id_;
    mutable std::mutex mutex_;
    std::condition_variable changed_;
    client::State state_ = client::State::queued;
    bool look_now_ = true;
    bool stopping_ = false;
    Seen seen_;
    std::thread thread_;
};

}  // namespace sluice::cli
