#pragma once

#include <deque>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "application/commands.hpp"
#include "simulation/checker.hpp"

namespace sluice::simulation {

// A lease as its worker knows it.
struct Holding {
    LeaseId lease;
    JobSpec spec;
    Duration term{};
    Timestamp heard{};                   // from when on the worker had it
    Timestamp alive_until{};             // until then it cannot have run out
    std::optional<Timestamp> over_at{};  // reported, handed back, or told that it is lost
    bool unsure = false;                 // a word that ends it is under way, or was not answered
    std::optional<Timestamp> full_at{};  // the disk is full, and a word of its worker did not fit
    std::int64_t line = 0;               // the last of its lines that was sent
    LeaseToken newer{};  // the newest that anybody has of this job, when the worker spoke last

    bool is_over() const { return over_at.has_value(); }
};

// The same again may be accepted.
constexpr bool is_passing(ErrorCode code) {
    return code == ErrorCode::unavailable || code == ErrorCode::store_full;
}

// What clients and workers were told. Each answer must agree with what was told before, whoever
// heard it, and in the end the store must agree with all of it.
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
    static void may_shorten(Holding& holding, const Heartbeat& said, Timestamp asked);
    void extended(Holding& holding, const Extended& answer, Timestamp asked);
    void wrote(const Holding& holding, Timestamp asked) const;
    void logged(const Holding& holding, const AppendLogs& said, Timestamp asked);
    void reported(Holding& holding, const Report& said, const Job& answer, Timestamp asked,
                  Timestamp heard);
    void handed_back(Holding& holding, Timestamp asked, Timestamp heard);
    // No word is stored from now on, until the second one is called. Whoever was refused in between
    // gets that time back.
    void disk_is_full(Timestamp since);
    void disk_was_full(Timestamp since, Timestamp until);
    // `had_ended`: the worker may have ended the lease before, by a word that got no answer, or by
    // the same word, which the node has heard twice.
    void refused(Holding& holding, const Error& error, Timestamp asked, Timestamp heard,
                 bool had_ended);

    struct Sent {
        Report report;
        Job answer;
    };
    const std::vector<Sent>& sent() const { return sent_; }

    // Jobs that are gone since they had ended long enough ago; of these nobody is told anything.
    void hear_of_removals(const std::set<JobId>& removed) { removed_ = &removed; }

    // Everything has ended: what was acknowledged is there, once, or was until it was removed; what
    // is there was asked for.
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
    std::map<JobId, JobState> ends_;                // that somebody was told of
    std::map<JobId, std::string> results_;
    std::deque<Holding> holdings_;
    std::map<JobId, LeaseToken> newest_;
    std::vector<Sent> sent_;
    Timestamp full_since_{};
    const std::set<JobId>* removed_ = nullptr;
};

}  // namespace sluice::simulation
