#pragma once

#include <set>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "infrastructure/postgres/store/work.hpp"

namespace sluice::postgres {

// Takes jobs out of the table ready for claims, with the keys that they need.
//
// A job whose key is held by another job is parked at that key, so that no later claim walks over
// it; when the key is freed, the first job of each lane comes back (Work::settle_keys).
class Claims {
  public:
    explicit Claims(Work& work) : work_(work) {}

    std::vector<std::vector<Job>> take(std::span<const LeaseStore::Wanted> wanted);

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
    struct Candidate {
        std::string ctid;  // of its row in ready
        LaneId lane = 0;
        std::vector<std::string> keys;
        std::string keys_text;
        bool is_moved = false;  // the job's row has another lane or priority
        Job job;
    };
    using Key = std::pair<std::string, std::string>;  // tenant and name

    std::vector<Demand> gather(std::span<const LeaseStore::Wanted> wanted) const;
    void serve(std::span<Demand> demands);
    void serve_together(std::span<Demand*> demands);
    bool learn_new_lanes(std::span<Demand> demands);
    std::vector<Candidate> read_candidates(const Result& rows, SubmittedJobs* submitted);
    void drop_ended(std::vector<Candidate>& candidates);
    void choose(Demand& demand, std::vector<Candidate> candidates);
    std::vector<bool> hold_keys(std::span<Candidate> candidates);
    std::vector<bool> try_to_hold(std::span<Candidate*> candidates, std::vector<Key>& missing);
    std::set<Key> lock_held(const std::vector<Key>& keys);
    void park(const Candidate& candidate, const Key& at);
    void send_parked();

    Work& work_;
    LeaseToken newest_token_{};
    TableRows<tables::parked_table> parking_;  // not sent yet
    std::size_t parked_ = 0;
};

}  // namespace sluice::postgres
