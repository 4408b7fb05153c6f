#pragma once

#include <atomic>
#include <deque>
#include <memory>
#include <string>
#include <vector>

#include "e2e/engine.hpp"
#include "e2e/fault_proxy.hpp"

namespace sluice::nodes {

// Entities that follow the jobs about them, as in the configuration of all nodes: a job of this
// type starts one, and its end stops it.
inline constexpr const char* gadget_kind = "gadget";
inline constexpr const char* gadget_job_type = "tend";

// The network between the nodes, the clients and the database, and the nodes' clocks.
struct Wiring {
    bool client_proxies = false;      // between clients and each node
    std::uint16_t database_port = 0;  // not 0: a proxy between each node and the database there
    bool own_clocks = false;  // each node's wall clock can be set; needs the package faketime
};

// Engines that share one store. All but port() belongs to the thread that made them, which must
// live as long as they do: the engines die with it.
class Nodes {
  public:
    Nodes(std::string store, int count, const Wiring& wiring = {});

    int count() const { return static_cast<int>(engines_.size()); }

    // The node's port for clients now; 0 while it is down. Any thread.
    std::uint16_t port(int node) const { return ports_[static_cast<std::size_t>(node)]; }

    bool is_up(int node) const { return port(node) != 0; }
    void kill(int node);
    int stop(int node);  // its exit code
    void start(int node);
    void freeze(int node);
    void thaw(int node);

    // The network between clients and this node, and between it and the database; null where the
    // wiring has none, or while the node is down.
    e2e::FaultProxy* client_network(int node);
    e2e::FaultProxy* database_network(int node);

    // Starts all nodes that are down as they would be after so long: with clocks that are ahead by
    // it, unless it is zero, and with more in their configuration.
    void start_later(std::chrono::hours later, const std::string& more_configuration);

    // Sets a node's wall clock so far from the true one; also for its next starts.
    void set_clock(int node, std::chrono::seconds off);

    // Reads the output of all nodes, so that none waits for a full pipe; fails the test, with its
    // last output, when one has died by itself.
    void look_after();

  private:
    std::vector<std::string> environment(int node) const;
    std::filesystem::path clock_file(int node) const;

    std::string store_;
    Wiring wiring_;
    e2e::TempFolder folder_;
    std::deque<std::unique_ptr<e2e::FaultProxy>> database_networks_;
    std::deque<std::unique_ptr<e2e::Engine>> engines_;
    std::deque<std::unique_ptr<e2e::FaultProxy>> client_networks_;
    std::deque<std::atomic<std::uint16_t>> ports_;
};

}  // namespace sluice::nodes
