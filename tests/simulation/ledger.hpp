#pragma once

#include <deque>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "application/ports/commands.hpp"
#include "simulation/checker.hpp"

namespace sluice::simulation {

// A lease as its worker knows it.
struct Holding {
    LeaseId lease;
    JobSpec spec;
    Duration term{};
    Timestamp heard{};                   // when the worker got it
    Timestamp alive_until{};             // until then it cannot have run out
    std::optional<Timestamp> over_at{};  // reported, handed back, or told that it is lost
    bool unsure = false;                 // a message that ends it is under way, or was not answered
    std::optional<Timestamp> full_at{};  // the disk is full, and a message did not fit
    std::int64_t line = 0;               // the last of its lines that was sent
    LeaseToken newer{};                  // the newest of this job at this worker's last message

    bool is_over() const { return over_at.has_value(); }
};

// Whether the same message may be accepted later.
constexpr bool is_passing(ErrorCode code) {
    return code == ErrorCode::unavailable || code == ErrorCode::store_full;
}

// The answers to clients and workers. Each answer must agree with all answers before, to any of
// them, and in the end the store must agree with all of them.
class Ledger {
  public:
    // ── clients ──
    void asked(const SubmitJobs& command);
    void accepted(const SubmitJobs& command, const Submitted& answer);
    void asked(const ReplayJob&) { ++replays_asked_; }
    void replayed(const ReplayJob& command, const Job& answer);
    void canceled(const Job& answer);

    const std::vector<JobId>& known(const std::string& tenant) { return known_[tenant]; }

    // ── workers ── each with the moments at which the worker asked and at which it heard.
    std::size_t claimed(const ClaimJobs& claim, const Job& job, Timestamp asked, Timestamp heard);
    Holding& holding(std::size_t place) { return holdings_[place]; }
    void speaks(Holding& holding) const;
    // From now on an operator's request may take the job away from its worker at any time.
    void may_be_released(JobId job);
    static void may_shorten(Holding& holding, const Heartbeat& said, Timestamp asked);
    void extended(Holding& holding, const Extended& answer, Timestamp asked);
    void wrote(const Holding& holding, Timestamp asked) const;
    void logged(const Holding& holding, const AppendLogs& said, Timestamp asked);
    void reported(Holding& holding, const Report& said, const Job& answer, Timestamp asked,
                  Timestamp heard);
    void handed_back(Holding& holding, Timestamp asked, Timestamp heard);
    // No message is stored from now on, until the second one is called. Workers that were refused
    // in between get that time back.
    void disk_is_full(Timestamp since);
    void disk_was_full(Timestamp since, Timestamp until);
    // `had_ended`: the worker may have ended the lease before, by a message that got no answer, or
    // by the same message, which the node has received twice.
    void refused(Holding& holding, const Error& error, Timestamp asked, Timestamp heard,
                 bool had_ended);

    struct Sent {
        Report report;
        Job answer;
    };
    const std::vector<Sent>& sent() const { return sent_; }

    // Jobs that were removed since they had ended long enough ago; later answers do not know them.
    void hear_of_removals(const std::set<JobId>& removed) { removed_ = &removed; }

    // Everything has ended: each acknowledged job exists, once, or did until it was removed; each
    // existing job was requested.
    void look_at_the_end(Checker& checker);

  private:
    void check_alone(const Holding& newcomer, Timestamp asked, Timestamp heard) const;

    std::map<std::string, std::vector<JobId>> known_;                           // by tenant
    std::map<std::pair<std::string, std::string>, std::vector<JobId>> by_key_;  // of tenants
    std::map<std::string, int> references_;  // acknowledged or not, by correlation id
    std::map<JobId, JobId> replays_;
    std::map<std::pair<std::string, std::string>, JobId> replays_by_key_;  // of tenants
    int replays_asked_ = 0;
    std::map<JobId, std::set<std::string>> lines_;  // of logs that were acknowledged
    std::map<JobId, JobState> ends_;                // that a client or worker was told
    std::map<JobId, std::string> results_;
    std::deque<Holding> holdings_;
    std::map<JobId, LeaseToken> newest_;
    std::set<JobId> released_;  // no lease of these is certain
    std::vector<Sent> sent_;
    Timestamp full_since_{};
    const std::set<JobId>* removed_ = nullptr;
};

}  // namespace sluice::simulation
