#pragma once

#include <atomic>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "nodes/caller.hpp"

namespace sluice::nodes {

// chaos: everybody does everything. healing: nothing new comes, and workers behave.
enum class Phase { chaos, healing, over };

inline constexpr const char* queue_name = "campaign";

// What all actors share.
class Stage {
  public:
    Stage(Nodes& all_nodes, Record& the_record, std::uint64_t the_seed)
        : nodes(all_nodes), record(the_record), seed(the_seed) {}

    Nodes& nodes;
    Record& record;
    std::uint64_t seed;
    std::atomic<Phase> phase = Phase::chaos;

    // Jobs that were acknowledged.
    void remember(const std::string& job);
    std::optional<std::string> any_job(simulation::Dice& dice);
    std::optional<std::string> recent_job(simulation::Dice& dice);

  private:
    std::mutex mutex_;
    std::vector<std::string> jobs_;
};

// Submits, cancels, reads and replays until the healing begins.
void act_as_client(Stage& stage, int number);

// Claims jobs and does to them what workers do, good and bad, until all is over.
void act_as_worker(Stage& stage, int number);

}  // namespace sluice::nodes
