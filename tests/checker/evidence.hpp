#pragma once

#include <chrono>
#include <istream>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "checker/json.hpp"

namespace sluice::checker {

using Span = std::chrono::microseconds;
using Time = std::chrono::sys_time<Span>;

// ok: it was answered and done. fail: it was refused. info: the outcome is unknown (no answer, or
// 503).
enum class Outcome { ok, fail, info };

// One call of a client or a worker, as that one recorded it; or a kill.
struct Operation {
    std::string op{};
    std::string actor{};
    std::string tenant{};  // of the request
    std::string job{};     // that it is about, as far as it names one
    std::string lease{};   // that it was sent under
    std::string key{};     // its Idempotency-Key, after its tenant
    std::string ref{};     // of a submit: the mark that the job carries as correlation_id
    bool is_part = false;  // of a batch, which is recorded, too
    Json args{};
    Time t0{};  // before it was sent
    Time t1{};  // after it was answered
    Outcome outcome = Outcome::info;
    int status = 0;
    std::string code{};  // of a refusal
    Json result{};

    bool is_ok(std::string_view what) const { return op == what && outcome == Outcome::ok; }
    bool gives_the_lease_up() const { return op == "report" || op == "release"; }
};

// A step in a job's history.
struct Event {
    std::int64_t seq = 0;
    std::string type{};
    std::string from{};
    std::string to{};
    std::int64_t attempt = 0;
    std::string lease{};
    std::string actor{};
    Time at{};
    Json detail{};
    std::string hash{};

    bool is_end() const;          // it ended the job
    bool is_by_worker() const;    // a worker's report or hand-back made it
    bool closes_a_lease() const;  // its lease no longer holds the job and its keys
    bool is_release() const;      // an operator took the job away from its worker
};

struct LogLine {
    std::int64_t seq = 0;
    std::int64_t attempt = 0;
    std::string message{};
};

// A job as it was found after everything had ended.
struct Job {
    std::string id{};
    std::string state{};
    Json fields{};  // as the API shows it
    std::vector<Event> events{};
    std::vector<LogLine> lines{};
    bool has_follower = false;  // an entity follows it, whose key it holds, too

    std::string tenant() const;
    const Event* end() const;               // the event that ended it, or null
    std::vector<std::string> keys() const;  // that it holds alone while it runs
};

// A job that clients or workers know of, and that is not in the history.
struct GoneJob {
    std::string tenant{};
    std::string mark{};           // of its submit
    std::optional<Time> keyed{};  // when it was requested under a key
    // How it ended, as a client was told.
    std::string state{};
    std::optional<Time> end{};
    // When a worker first reported its success, whatever the answer was.
    std::optional<Time> success_sent{};
};

// An entity that follows jobs: their actions on it, in order.
struct Entity {
    struct Event {
        std::int64_t seq = 0;
        std::string action{};
        std::string from{};
        std::string to{};
        std::string job{};
    };

    std::string name{};  // with its tenant
    Json fields{};
    std::vector<Event> events{};
};

// A worker's hold on a job: from the history, and the worker's calls under it.
struct Lease {
    std::string id{};
    const Job* job = nullptr;
    const Event* claimed = nullptr;
    const Event* closed = nullptr;
    const Operation* given = nullptr;  // the claim whose answer told the worker
    Time until{};                      // its end, as that answer said
    std::vector<const Operation*> spoken{};
};

// The id of the job in the name of a lease.
std::string job_in(const std::string& lease);

// A change of a limit, as the engine's history of its rules has it. Their order is that of their
// commits.
struct LimitChange {
    std::int64_t seq = 0;
    std::string limit{};
    std::string reason{};
    Json after{};  // what it demands from then on; null: it was lifted
    Time at{};
};

// All that a run is judged by. Leases point into the rest, so it can be moved, not copied.
struct Evidence {
    Evidence() = default;
    Evidence(Evidence&&) = default;
    Evidence& operator=(Evidence&&) = default;

    // By t0. A batch is there as such and as a submit for each of its jobs.
    std::vector<Operation> operations{};
    // Requests about jobs of another tenant; they are not among the others.
    std::vector<Operation> trespasses{};
    std::map<std::string, Job> jobs{};
    std::map<std::string, GoneJob> gone{};
    std::map<std::string, Lease> leases{};  // of the history and of the record
    std::vector<Entity> entities{};
    std::vector<LimitChange> limit_changes{};
    std::vector<Json> limits{};  // those in force at the end, with their use
    // The rows of all events as the store has them, or none.
    std::vector<Json> ledger{};
    std::vector<Json> entity_ledger{};

    const Job* find(const std::string& id) const;
    const Job* job_of(const Lease& lease) const;
    bool is_gone(const std::string& id) const { return gone.contains(id); }
};

// Reads the client's record (a line of JSON per operation) and the history (a line per job, event,
// log line, entity and row of the store). Throws, naming the line, when one cannot be read.
Evidence read_evidence(std::istream& record, std::istream& history);

bool is_final(std::string_view state);

// The time of a text such as 2026-11-15T04:11:02.922Z; throws when it is none.
Time parse_time(std::string_view text);

}  // namespace sluice::checker
