#pragma once

#include <array>
#include <atomic>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "nodes/caller.hpp"

namespace sluice::nodes {

// chaos: all actors do everything. healing: no new jobs come, and workers behave.
enum class Phase { chaos, healing, over };

inline constexpr const char* queue_name = "campaign";

// Clients and workers belong to the one or the other by turns.
inline constexpr std::array<const char*, 2> tenants{"default", "south"};
inline const char* tenant_of(int number) {
    return tenants[static_cast<std::size_t>(number) % tenants.size()];
}

// Where jobs come from: "source-0" and so on.
inline constexpr int sources = 4;
inline std::string any_source(simulation::Dice& dice) {
    return "source-" + std::to_string(dice.below(sources));
}

// The state that all actors share.
class Stage {
  public:
    Stage(Nodes& all_nodes, Record& the_record, std::uint64_t the_seed)
        : nodes(all_nodes), record(the_record), seed(the_seed) {}

    Nodes& nodes;
    Record& record;
    std::uint64_t seed;
    std::atomic<Phase> phase = Phase::chaos;

    // How long actors wait for an answer. A network that loses answers makes them wait in vain.
    e2e::Millis patience{15'000};
    // The network may send a request twice, so every request that makes jobs must have a key.
    bool always_keyed = false;
    // Whether the healing has a competition, and how far it is.
    bool has_competition = false;
    std::atomic<bool> is_healed = false;  // there are no faults any more
    std::atomic<bool> is_competition_over = false;
    // Claims ask for one job each, and wait for longer than it may take to be told of one.
    std::atomic<bool> claims_are_patient = false;

    // Jobs that were acknowledged.
    void remember(const std::string& job, const std::string& tenant = tenants[0]);
    std::optional<std::string> any_job(simulation::Dice& dice,
                                       const std::string& tenant = tenants[0]);
    std::optional<std::string> recent_job(simulation::Dice& dice,
                                          const std::string& tenant = tenants[0]);
    // All of them without the first ones, in order.
    struct Known {
        std::string job;
        std::string tenant;
    };
    std::vector<Known> jobs_after(std::size_t count);
    // A job of the other tenant.
    std::optional<std::string> foreign_job(simulation::Dice& dice, const std::string& tenant);

  private:
    std::mutex mutex_;
    std::map<std::string, std::vector<std::string>> jobs_;  // by tenant
    std::vector<Known> all_;
};

// A job that may use every feature of jobs.
e2e::Fields new_job(Stage& stage, simulation::Dice& dice, const std::string& tenant,
                    const std::string& mark);

// Submits, cancels, reads, follows and replays until the healing begins.
void act_as_client(Stage& stage, int number);

// Adds, changes and lifts limits, quotas and profiles, pauses sources, blocks tenants, releases
// leases, and starts and ends maintenance. When the healing begins, the first operator ends all
// that would hold jobs back, and holds the competition.
void act_as_operator(Stage& stage, int number);

// Patient claims wait at all nodes while jobs come of which one may run at a time, jobs that are
// paused until the end, and jobs that nothing holds back.
void compete(Stage& stage);

// The engine compares its meters with the leases.
void check_limits(Stage& stage);

// Claims jobs and acts as good and bad workers do, until the end.
void act_as_worker(Stage& stage, int number);

}  // namespace sluice::nodes
