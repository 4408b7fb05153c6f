#pragma once

#include <chrono>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace sluice::checker {

// How far clocks and sweeps may be off.
struct Limits {
    // Between the time that a step carries and the moment at which it is visible to others.
    std::chrono::microseconds slack = std::chrono::milliseconds(5);
    // Between the engine's clock, which may be that of several nodes, and the clients'.
    std::chrono::microseconds clocks = std::chrono::milliseconds(5);
    // Between the moment at which something is due (a lease's end, a deadline) and the engine's
    // dealing with it, also when nodes die meanwhile.
    std::chrono::microseconds lateness = std::chrono::seconds(15);
    // The longest that a request may take beyond the time it asked to wait.
    std::chrono::microseconds answer = std::chrono::seconds(10);
    // Whether a lease that is open when a node starts gets a new term then, as in a store that only
    // one node uses.
    bool starts_renew_leases = false;
    // Whether all claims of a queue are served in one order, as in such a store.
    bool strict_order = false;
    // How far the clocks by which nodes judge leases are apart, whatever their wall clocks show.
    std::chrono::microseconds judges = std::chrono::milliseconds(5);
    // The network sent some requests twice, the second time later. A refused request may have been
    // done then.
    bool repeated_requests = false;
    // Wall clocks were set meanwhile: times of the history tell nothing about one another or about
    // clients' times. Intervals by the clients' own clock still count.
    bool clock_steps = false;
    // For how long jobs that succeeded are kept; zero: for ever, as all others are. Only the rule
    // on removals can judge a job that is gone; the others pass over it.
    std::chrono::microseconds retention{};
    // For how long an idempotency key refers to its jobs, which stay as long.
    std::chrono::microseconds key_memory = std::chrono::hours(24);
};

struct Finding {
    std::string where{};  // a job, a lease, a key
    std::string what{};
};

// The result of one invariant.
class Row {
  public:
    Row(std::string_view id, std::string_view title) : id_(id), title_(title) {}

    // Counts a case; a case that does not hold is a finding.
    void expect(bool holds, std::string_view where, std::string_view what) {
        ++cases_;
        if (!holds) findings_.push_back({std::string(where), std::string(what)});
    }

    const std::string& id() const { return id_; }
    const std::string& title() const { return title_; }
    std::size_t cases() const { return cases_; }
    const std::vector<Finding>& findings() const { return findings_; }

  private:
    std::string id_;
    std::string title_;
    std::size_t cases_ = 0;
    std::vector<Finding> findings_;
};

// The name of the count of jobs that were known and are not in the history.
inline constexpr const char* removed_jobs = "jobs that are gone";

struct Verdict {
    std::vector<std::pair<std::string, std::size_t>> counts{};
    std::vector<Row> rows{};

    bool is_clean() const;
    std::vector<std::string> broken() const;    // the ids of the rows with findings
    std::vector<std::string> unlooked() const;  // the ids of the rows without a case

    // The counts, a line per invariant, and the first findings of each.
    std::string table() const;
};

}  // namespace sluice::checker
