#pragma once

#include <map>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

#include "application/ports/store.hpp"
#include "domain/lane.hpp"

namespace sluice::simulation {

// Something that must never happen has happened.
class Violation : public std::runtime_error {
  public:
    using std::runtime_error::runtime_error;
};

// Throws a Violation unless it holds.
void demand(bool holds, const std::string& what);

// Reads the store from outside after each run of the engine, remembers what it saw, and demands
// what must hold between one look and the next: steps are legal and chained without gaps, final
// states never change, leases and keys have one holder, nothing runs before its time or its
// dependencies.
class Checker {
  public:
    explicit Checker(JobReader& reader) : reader_(reader) {}

    // Looks at everything that may have changed. `on_time`: the engine has just dealt with all that
    // was due at `now`, so nothing overdue may be left.
    void look(Timestamp now, bool on_time);

    // Whether the filter accepts a job that could be claimed at `now`; the first one in order.
    std::optional<JobId> first_claimable(const ClaimFilter& filter, Timestamp now) const;

    // Whether every job has ended and let go of its lease.
    bool all_settled() const { return settled_ == records_.size(); }
    std::size_t jobs() const { return records_.size(); }
    std::string open_jobs() const;

    // Demands what must hold once everything has ended.
    void look_at_the_end();

    // Over all events and log lines of all jobs.
    Digest history_hash();

  private:
    struct Record {
        Job job;  // as it was seen last
        std::optional<JobState> state{};
        Digest hash{};
        std::int64_t seq = 0;
        std::int64_t lines = 0;
        int claims = 0;
        int hand_backs = 0;
        LeaseToken token{};
        bool settled = false;
    };

    void find_new_jobs();
    void update(Record& record, const Job& job);
    void read_events(Record& record, const Job& job);
    void read_event(Record& record, const Event& event, bool first);
    void read_claim(Record& record, const Event& event, bool first);
    void read_lines(Record& record, const Job& job);
    void check_shape(const Record& record, const Job& job);
    void check_keys() const;
    void check_dues(Timestamp now) const;
    bool may_run(const JobSpec& spec) const;

    JobReader& reader_;
    std::map<JobId, Record> records_;
    std::size_t settled_ = 0;
};

}  // namespace sluice::simulation
