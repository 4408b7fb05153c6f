#include "nodes/saboteur.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <thread>

namespace sluice::nodes {
namespace {

using e2e::FaultProxy;
using e2e::Fields;
using e2e::Millis;
using std::chrono::seconds;
using Clock = std::chrono::steady_clock;

constexpr seconds longest_step{3600};

}  // namespace

Saboteur::Saboteur(Stage& stage, const Plan& plan)
    : nodes_(stage.nodes), record_(stage.record), plan_(plan), dice_(plan.seed) {
    const auto allow = [this](bool is_allowed, Fault fault, std::size_t share) {
        if (is_allowed) faults_.insert(faults_.end(), share, fault);
    };
    allow(plan.kills, &Saboteur::kill_some, 3);
    allow(plan.freezes, &Saboteur::freeze_one, 1);
    allow(plan.freezes && plan.database != nullptr, &Saboteur::freeze_in_commit,
          plan.database_network ? 2 : 1);
    allow(plan.client_network, &Saboteur::disturb_clients, 4);
    allow(plan.database_network, &Saboteur::disturb_database_links, 3);
    allow(plan.database_crashes, &Saboteur::crash_database, 2);
    allow(plan.clock_steps, &Saboteur::step_clock, 4);
    allow(plan.database_clock_steps, &Saboteur::step_database_clock, 2);
}

void Saboteur::run_until(Clock::time_point end) {
    if (plan_.database_clock_steps) start_on_a_set_clock();
    while (Clock::now() < end) {
        const bool kills_only = faults_.size() == 3 && plan_.kills;
        wait(kills_only ? Millis(700 + dice_.below(1000)) : Millis(200 + dice_.below(700)));
        if (!faults_.empty()) (this->*dice_.pick(faults_))();
    }
}

void Saboteur::heal() {
    if (plan_.clock_steps) {
        for (int node = 0; node < nodes_.count(); ++node) {
            nodes_.set_clock(node, 2 * longest_step);
            take_down(node);
        }
    }
    start_all();
    for (int node = 0; node < nodes_.count(); ++node) {
        FaultProxy* network = nodes_.client_network(node);
        if (network == nullptr) continue;
        note("network to clients: cut", {{"node", node}});
        network->cut();
    }
}

void Saboteur::kill_some() {
    take_down(any_node());
    if (dice_.one_in(4)) take_down(any_node());
    wait(Millis(dice_.below(600)));
    start_all();
}

void Saboteur::take_down(int node) {
    if (!nodes_.is_up(node)) return;
    if (dice_.one_in(6)) {
        note("stop", {{"node", node}});
        EXPECT_EQ(nodes_.stop(node), 0) << "node " << node;
    } else {
        note("kill", {{"node", node}});
        nodes_.kill(node);
    }
}

void Saboteur::start_all() {
    for (int node = 0; node < nodes_.count(); ++node) {
        if (nodes_.is_up(node)) continue;
        nodes_.start(node);
        note("start", {{"node", node}});
    }
}

// Now and then for longer than any lease lasts.
void Saboteur::freeze_one() {
    const int node = any_node();
    note("freeze", {{"node", node}});
    nodes_.freeze(node);
    std::this_thread::sleep_for(Millis(200 + dice_.below(dice_.one_in(4) ? 4500 : 2000)));
    nodes_.thaw(node);
    note("thaw", {{"node", node}});
}

// The node has locked the rows that it is about to write, and the database waits for the rest of
// its message. Now and then for so long that the other nodes take the locks away from it, and not
// for as long as an answer may take.
void Saboteur::freeze_in_commit() {
    const int node = any_node();
    FaultProxy* network = nodes_.database_network(node);
    if (network == nullptr) return;
    network->hold_back({.burst = 1000, .tail = 40 + static_cast<std::size_t>(dice_.below(600))});
    for (int looks = 0; looks < 20 && !network->holds(); ++looks) wait(Millis(20));
    if (network->holds()) {
        note("freeze in a commit", {{"node", node}});
        nodes_.freeze(node);
        std::this_thread::sleep_for(Millis(dice_.one_in(3) ? 8500 : 200 + dice_.below(3000)));
        nodes_.thaw(node);
        note("thaw", {{"node", node}});
    }
    network->let_go();
}

void Saboteur::disturb_clients() {
    const int node = any_node();
    if (FaultProxy* network = nodes_.client_network(node)) disturb(*network, node, "clients", true);
}

// Nothing is sent twice to a database: only the network is faulty here.
void Saboteur::disturb_database_links() {
    const int node = any_node();
    if (FaultProxy* network = nodes_.database_network(node)) {
        disturb(*network, node, "database", false);
    }
}

void Saboteur::disturb(FaultProxy& network, int node, const std::string& whose, bool may_repeat) {
    const Millis later(dice_.below(1500));
    const auto begin = [&](const std::string& what) {
        note("network to " + whose + ": " + what, {{"node", node}});
    };
    switch (dice_.below(may_repeat ? 7 : 6)) {
        case 0:
            begin("silence");
            network.freeze();
            wait(Millis(100 + dice_.below(2500)));
            network.thaw();
            break;
        case 1:
            begin("lost answers");
            network.swallow_answers();
            break;
        case 2:
            begin("cut");
            network.cut();
            break;
        case 3:
            begin("reset");
            network.reset();
            break;
        case 4:
            begin("abandoned");
            network.abandon();
            break;
        case 5:
            begin("delay");
            network.delay(Millis(5 + dice_.below(may_repeat ? 400 : 60)));
            wait(Millis(300 + dice_.below(1500)));
            network.delay(Millis(0));
            break;
        default:
            begin("repeated requests");
            network.cut();  // new connections repeat requests
            network.repeat_requests(dice_.one_in(2) ? Millis(0) : later);
            wait(Millis(500 + dice_.below(1500)));
            network.repeat_no_more();
    }
}

void Saboteur::crash_database() {
    if (dice_.one_in(2)) {
        note("terminate backends", {});
        plan_.database->execute(
            "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE pid <> pg_backend_pid() "
            "AND backend_type = 'client backend' AND random() < 0.5");
        return;
    }
    note("halt database", {});
    plan_.database->halt();
    wait(Millis(dice_.below(1500)));
    plan_.database->resume();
    note("resume database", {});
}

void Saboteur::step_clock() {
    const seconds off(dice_.one_in(4) ? 0 : (dice_.below(3) - 1) * longest_step.count());
    const int one = dice_.one_in(2) ? any_node() : -1;
    note("clock", {{"node", one}, {"seconds", off.count()}});
    for (int node = 0; node < nodes_.count(); ++node) {
        if (one < 0 || node == one) nodes_.set_clock(node, off);
    }
}

// At least one node lives on, and measures it; others start while it has not been seen yet.
void Saboteur::step_database_clock() {
    const seconds off((dice_.below(3) - 1) * 2 * longest_step.count());
    note("database's clock", {{"seconds", off.count()}});
    plan_.database->set_clock(off);
}

// Independent of the later dice: one node starts before any other can have seen the step.
void Saboteur::start_on_a_set_clock() {
    const seconds off(dice_.one_in(2) ? 2 * longest_step : -2 * longest_step);
    wait(seconds(2));
    note("database's clock", {{"seconds", off.count()}});
    plan_.database->set_clock(off);
    take_down(any_node());
    start_all();
}

void Saboteur::wait(Millis time) {
    const auto end = Clock::now() + time;
    do {
        nodes_.look_after();
        std::this_thread::sleep_for(std::min(time, Millis(20)));
    } while (Clock::now() < end);
}

void Saboteur::note(const std::string& what, Fields args) {
    record_.note(what, "saboteur", args);
}

}  // namespace sluice::nodes
