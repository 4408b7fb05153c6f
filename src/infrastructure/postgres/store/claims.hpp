#pragma once

#include <map>
#include <span>
#include <vector>

#include "infrastructure/postgres/store/claim_keys.hpp"

namespace sluice::postgres {

// Takes jobs out of the table ready for claims, with the keys that they need.
class Claims {
  public:
    explicit Claims(Work& work) : work_(work), keys_(work) {}

    std::vector<std::vector<Job>> take(std::span<const LeaseStore::Wanted> wanted, Timestamp now);

    LeaseToken newest_token() const { return newest_token_; }

  private:
    // Claims that can take from the same lanes, and how much they want together.
    struct Demand {
        const ClaimFilter* filter = nullptr;
        std::vector<LaneId> lanes{};  // sorted
        std::vector<std::size_t> indexes{};
        int open = 0;
        int page = 0;            // how many to ask for next
        bool exhausted = false;  // these lanes have no more jobs
        std::vector<Job> taken{};
    };

    std::vector<Demand> gather(std::span<const LeaseStore::Wanted> wanted) const;
    void serve(std::span<Demand> demands);
    void serve_together(std::span<Demand*> demands);
    bool learn_new_lanes(std::span<Demand> demands);
    std::vector<LaneId> open_lanes(const ClaimFilter& filter) const;
    void leave_open(std::vector<LaneId>& lanes) const;
    LaneLimits::LaneOf name_of_lanes() const;
    std::vector<Candidate> read_candidates(const Result& rows, SubmittedJobs* submitted);
    void drop_ended(std::vector<Candidate>& candidates);
    void choose(Demand& demand, std::vector<Candidate> candidates);
    bool take_some(Demand& demand, std::span<Candidate> some);
    void lock_meters(std::span<const std::vector<Candidate>> found);
    std::vector<Candidate> permitted(std::span<Candidate> some);
    bool close_lanes(Demand& demand);

    Work& work_;
    Timestamp now_{};
    // Lanes of candidates that had no permit: where they are counted, and where they wait.
    std::map<LaneId, LaneId> held_back_;
    std::map<LaneId, Lane> moved_lanes_;  // of damaged jobs; perhaps no other job has them
    LeaseToken newest_token_{};
    ClaimKeys keys_;
};

}  // namespace sluice::postgres
