#pragma once

#include <map>
#include <memory>
#include <optional>
#include <set>
#include <stdexcept>
#include <string>
#include <vector>

#include "application/ports/store.hpp"
#include "domain/jobs/lane.hpp"
#include "simulation/coverage.hpp"
#include "simulation/entity_chains.hpp"
#include "simulation/limit_model.hpp"

namespace sluice::simulation {

// Those of nodes.
inline constexpr Duration clocks_differ_by = std::chrono::milliseconds(100);

// Something that must never happen has happened.
class Violation : public std::runtime_error {
  public:
    using std::runtime_error::runtime_error;
};

inline std::string describe(std::string_view text) {
    return std::string(text);
}
std::string describe(const Job& job);
inline std::string describe(LeaseId lease) {
    return "lease " + to_text(lease);
}

// Throws a Violation with this message unless the condition holds.
template <class... Parts>
void demand(bool holds, const Parts&... parts) {
    if (!holds) throw Violation((describe(parts) + ...));
}

// Reads the store from outside after each run of an engine, remembers it, and demands what must
// hold between one look and the next: steps are legal and chained without gaps, final states never
// change, leases and keys have one holder, no job runs before its time or its dependencies,
// entities move with their jobs, and every hash is that of the fields it covers.
class Checker {
  public:
    explicit Checker(Coverage& coverage)
        : coverage_(coverage), entity_chains_(coverage), limits_(coverage) {}

    // Whether the times of a job's events do not fall, except for the differences of nodes' clocks.
    void expect_times_in_order(bool expected) { times_in_order_ = expected; }

    // Reads from here from now on.
    void use(std::unique_ptr<JobReader> reader) { reader_ = std::move(reader); }

    // Reads these jobs, which may have changed. Jobs that ended before `cutoff` may have been
    // removed; nothing: no job may.
    void look_at(std::vector<JobId> touched, std::optional<Timestamp> cutoff);
    // Reads all jobs that may have changed.
    void look_at_all(std::optional<Timestamp> cutoff);

    // Ended jobs that were old enough and are gone.
    const std::set<JobId>& removed() const { return removed_; }
    // The job, or its last state before it was removed; nothing when there never was one.
    std::optional<Job> last_seen(JobId id);

    // Which jobs may run now. A rule that was changed must be read before the jobs are looked at.
    LimitModel& limits() { return limits_; }
    void read_rules();

    // The first job in order that the filter accepts and that could be claimed at `now`. One that
    // rules perhaps hold back counts if `or_perhaps`.
    const Job* first_claimable(const ClaimFilter& filter, Timestamp now, bool or_perhaps);

    // A job whose lease, or deadline, has been over for longer than that.
    const Job* overdue(Timestamp now, Duration patience) const;

    // Whether every job has ended and its lease is closed.
    bool all_settled() const { return settled_ == records_.size(); }
    std::vector<JobId> leased() const;
    std::size_t jobs() const { return records_.size(); }
    std::string open_jobs() const;

    // Demands what must hold once everything has ended.
    void look_at_the_end();
    JobReader& reader() { return *reader_; }

    // Over all events and log lines of all jobs.
    Digest history_hash();

  private:
    struct Record {
        Job job;  // as it was seen last
        std::optional<JobState> state{};
        Digest hash{};
        std::int64_t seq = 0;
        std::int64_t lines = 0;
        std::optional<Digest> log_hash{};
        int claims = 0;
        int hand_backs = 0;
        LeaseToken token{};
        Timestamp last{};  // the time of its last event
        bool settled = false;
    };

    void update(const Job& job);
    void note_removal(JobId id, std::optional<Timestamp> cutoff);
    void note_what_is_kept(Timestamp cutoff);
    bool is_needed(JobId id) const;  // by an open job
    void read_events(Record& record, const Job& job);
    void read_event(Record& record, const Event& event, bool first);
    void read_claim(Record& record, const Event& event, bool first);
    LimitModel::Leases leases() const;
    // Reads the job's lines up to `last`.
    void read_lines(Record& record, const Job& job, std::int64_t last);
    void check_shape(const Record& record, const Job& job);
    void check_keys() const;
    void check_sites();
    bool may_run(const JobSpec& spec) const;

    Coverage& coverage_;
    EntityChains entity_chains_;
    LimitModel limits_;
    std::vector<Lane> started_;  // since the last look
    std::unique_ptr<JobReader> reader_;
    std::map<JobId, Record> records_;
    std::set<JobId> open_;
    std::set<JobId> removed_;
    std::size_t settled_ = 0;
    bool leases_changed_ = false;
    bool times_in_order_ = true;
};

// The jobs that move a site, and their names.
inline constexpr const char* site_job_type = "env_update";
inline bool moves_site(const JobSpec& spec) {
    return spec.type == site_job_type && !spec.site_id.empty();
}

}  // namespace sluice::simulation
