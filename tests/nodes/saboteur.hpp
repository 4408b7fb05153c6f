#pragma once

#include <vector>

#include "nodes/actors.hpp"
#include "nodes/campaign.hpp"

namespace sluice::nodes {

// Causes the faults that the plan allows, one after the other, and records them. One thread, that
// of the nodes.
class Saboteur {
  public:
    Saboteur(Stage& stage, const Plan& plan);

    void run_until(std::chrono::steady_clock::time_point end);

    // Everything is up, no connection repeats requests any more, and the clocks show a time at
    // which all delayed jobs are due.
    void heal();

  private:
    using Fault = void (Saboteur::*)();

    void kill_some();
    void freeze_one();
    void freeze_in_commit();
    void disturb_clients();
    void disturb_database_links();
    void crash_database();
    void step_clock();
    void step_database_clock();
    void start_on_a_set_clock();

    void take_down(int node);
    void start_all();
    void disturb(e2e::FaultProxy& network, int node, const std::string& whose, bool may_repeat);
    void wait(e2e::Millis time);
    void note(const std::string& what, e2e::Fields args);
    int any_node() { return dice_.below(nodes_.count()); }

    Nodes& nodes_;
    Record& record_;
    const Plan& plan_;
    simulation::Dice dice_;
    std::vector<Fault> faults_;
};

}  // namespace sluice::nodes
