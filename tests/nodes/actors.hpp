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

// Claims jobs and acts as good and bad workers do, until the end.
void act_as_worker(Stage& stage, int number);

}  // namespace sluice::nodes
