#pragma once

#include <atomic>
#include <deque>
#include <memory>
#include <string>
#include <vector>

#include "e2e/engine.hpp"

namespace sluice::nodes {

// Engines that share one store. All but port() belongs to the thread that made them, which must
// live as long as they do: the engines die with it.
class Nodes {
  public:
    Nodes(std::string store, int count);

    int count() const { return static_cast<int>(engines_.size()); }

    // Where a node listens now; 0 while it is down. Any thread.
    std::uint16_t port(int node) const { return ports_[static_cast<std::size_t>(node)]; }

    bool is_up(int node) const { return port(node) != 0; }
    void kill(int node);
    int stop(int node);  // its exit code
    void start(int node);
    void freeze(int node);
    void thaw(int node);

    // Reads what they printed, so that none waits for a full pipe; fails the test, with what it
    // said last, when one has died by itself.
    void look_after();

  private:
    std::string store_;
    std::vector<std::unique_ptr<e2e::Engine>> engines_;
    std::deque<std::atomic<std::uint16_t>> ports_;
};

}  // namespace sluice::nodes
