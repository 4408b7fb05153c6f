#pragma once

#include <set>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "infrastructure/postgres/store/work.hpp"

namespace sluice::postgres {

// A job that a claim may take: its row in the table ready is locked.
struct Candidate {
    std::string ctid;  // of its row in ready
    LaneId lane = 0;
    std::vector<std::string> keys;
    std::string keys_text;
    LaneId permits_lane = 0;  // that of the job's row, by which its permits are counted
    bool is_moved = false;    // the job's row has another lane or priority
    Job job;
};

// Takes the keys that jobs need to be claimed.
//
// A job whose key is held by another job is parked at that key, so that no later claim walks over
// it; when the key is freed, the first job of each lane comes back (Work::settle_keys).
class ClaimKeys {
  public:
    explicit ClaimKeys(Work& work) : work_(work) {}

    // Whether each candidate has all of its keys now. The others were parked.
    std::vector<bool> hold(std::span<Candidate> candidates);

    void send_parked();
    std::size_t parked() const { return parked_; }  // so far

  private:
    using Key = std::pair<std::string, std::string>;  // tenant and name

    std::vector<bool> try_to_hold(std::span<Candidate*> candidates, std::vector<Key>& missing);
    std::set<Key> lock_held(const std::vector<Key>& keys);
    void park(const Candidate& candidate, const Key& at);

    Work& work_;
    TableRows<tables::parked_table> parking_;  // not sent yet
    std::size_t parked_ = 0;
};

}  // namespace sluice::postgres
