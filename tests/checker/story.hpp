#pragma once

#include <map>
#include <string>
#include <vector>

#include "checker/checker.hpp"

namespace sluice::checker {

using Fields = boost::json::object;

// Builds a correct run, step by step, as record and as history, for tests that then change
// something in it.
class Story {
  public:
    // The history of one job; tests change it as they like.
    struct Chapter {
        Fields fields{};
        std::vector<Fields> events{};
        std::vector<Fields> logs{};
    };

    std::vector<Fields> record{};
    std::map<std::string, Chapter> jobs{};
    std::vector<Fields> entities{};
    std::vector<Fields> limit_changes{};
    std::vector<Fields> limits{};  // as they are listed at the end

    // Sets the tenant of all further steps.
    void act_for(const std::string& tenant) { tenant_ = tenant; }

    void pass(int milliseconds) { now_ += milliseconds; }
    // The time after so many milliseconds.
    std::string time_in(int milliseconds) const { return time(now_ + milliseconds); }

    // Requests of clients. Submits and replays return the id of the new job.
    std::string submit(Fields body = {}, const std::string& key = "");
    void cancel(const std::string& job);
    std::string replay(const std::string& job);
    void read(const std::string& job);
    void read_logs(const std::string& job);
    void stream(const std::string& job, std::int64_t after = 0);
    // Two jobs at once, of which the second waits for the first; both are canceled.
    void batch(const std::string& key);
    // A job that moves the one gadget of the story; it succeeds.
    std::string tend();
    // A client of another tenant asks for this job in vain.
    void ask_from_elsewhere(const std::string& job);

    // Messages of workers. A claim returns the lease.
    std::string claim(const std::string& job, int term_ms = 1000);
    void heartbeat(const std::string& lease, int term_ms = 1000);
    void log(const std::string& lease);
    void report(const std::string& lease, const std::string& outcome, Fields body = {});
    void release(const std::string& lease);

    // A worker waits for so long, and gets nothing.
    void claim_in_vain(int wait_ms);
    // A worker that would wait for so long is given the job after a moment, and reports its end.
    void claim_in_time(const std::string& job, int wait_ms);

    // Changes of limits by an operator, with the attributes that the history has of them.
    std::string limit(const Fields& terms);
    void change_limit(const std::string& limit, const Fields& terms);
    void lift_limit(const std::string& limit);
    void check_limits();
    // A job is refused, as of a blocked tenant.
    void submit_in_vain(const std::string& key = "");
    // An operator takes the job away from its worker.
    void release_lease(const std::string& lease);

    // Steps that the engine takes by itself.
    void expire(const std::string& lease);
    void time_out(const std::string& job);
    void cancel_for_dependency(const std::string& job);

    // Repeats the last operation, or an earlier one.
    Fields& repeat() { return repeat(record.back()); }
    Fields& repeat(Fields operation);
    Fields& last() { return record.back(); }

    Verdict judge() const;

  private:
    Fields& done(const std::string& op, Fields args, int status, Json result);
    void step(const std::string& job, const std::string& type, const std::string& to,
              const std::string& lease, const std::string& actor, Json detail = nullptr);
    std::string time(std::int64_t milliseconds) const;
    void note_change(const std::string& limit, Json after);
    Chapter& of(const std::string& lease);

    std::int64_t now_ = 1'000'000'000'000;  // milliseconds since 1970
    int count_ = 0;
    std::string tenant_ = "default";
    std::map<std::string, std::string> leases_{};  // by job: the open one
};

// A run with a bit of everything.
Story clean_story();

}  // namespace sluice::checker
