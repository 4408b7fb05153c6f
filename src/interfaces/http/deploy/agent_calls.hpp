#pragma once

#include <condition_variable>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "domain/values/result.hpp"
#include "domain/values/time.hpp"

namespace sluice::client {
class HttpConnection;
}

namespace sluice::http::deploy {

// Calls the agents of runtime nodes, on a few threads of its own: neither the I/O thread nor the
// committer ever waits for an agent. Threads start when they are needed.
class AgentCalls {
  public:
    // Hands a task to the I/O thread. It may be called from any thread.
    using Deliver = std::function<void(std::function<void()>)>;

    explicit AgentCalls(Deliver deliver);
    // Breaks off calls that are under way. They are not answered any more.
    ~AgentCalls();
    AgentCalls(const AgentCalls&) = delete;
    AgentCalls& operator=(const AgentCalls&) = delete;

    struct Wanted {
        std::string url{};
        std::string token{};  // sent as X-Runtime-Token; never part of an answer
        std::string body{};
    };
    // The agent's answer, as a JSON object; or why there is none, for people.
    struct Answer {
        std::string json{};
        std::string error{};  // empty: all is well
    };
    // Calls `done` on the I/O thread, within the time limit and what waits before it. False: too
    // many calls wait already.
    bool post(Wanted wanted, std::function<void(Answer)> done);

    static constexpr Duration time_limit = std::chrono::seconds(10);

  private:
    static constexpr std::size_t threads_max = 4;
    static constexpr std::size_t waiting_max = 100;

    struct Waiting {
        Wanted wanted;
        std::function<void(Answer)> done;
    };
    void serve(client::HttpConnection& connection);

    Deliver deliver_;
    std::mutex mutex_;
    std::condition_variable arrived_;
    std::deque<Waiting> waiting_;
    std::size_t idle_ = 0;
    bool stop_ = false;
    std::vector<std::unique_ptr<client::HttpConnection>> connections_;
    std::vector<std::thread> threads_;
};

}  // namespace sluice::http::deploy
