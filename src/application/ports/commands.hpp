#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "domain/entities/entity.hpp"
#include "domain/jobs/history.hpp"
#include "domain/jobs/lane.hpp"
#include "domain/values/result.hpp"

// Every command of the engine, and its answer.
namespace sluice {

// ── submit ──

// Jobs that are accepted all or none. Ids and creation times are given by the engine.
struct SubmitJobs {
    std::vector<JobSpec> jobs{};
    // For each job, the indexes in `jobs` of those that it depends on, beside spec.depends_on.
    std::vector<std::vector<std::size_t>> siblings{};
    bool is_batch = false;  // shapes the pointers in errors
    std::string idempotency_key{};
    Digest body_digest{};
    std::string actor{};
};
struct Submitted {
    std::vector<Job> jobs{};  // as they were accepted
    bool repeated = false;    // the key was seen before; nothing was added
};

// ── claim ──
struct ClaimJobs {
    std::string worker_id{};
    std::string token_name{};  // of the caller's token; empty: none was needed
    ClaimFilter filter{};
    int limit = 1;
    Duration term{};
    std::optional<Timestamp> wait_until{};  // nothing: answer at once
    std::uint64_t ticket = 0;               // names the claim while it waits
};
using Claimed = std::vector<Job>;  // each with its lease

// ── messages of workers ──

// The jobs that a worker may speak about; of others it learns nothing, not even that they exist.
struct WorkerBounds {
    std::string tenant{};              // empty: any
    std::vector<std::string> types{};  // empty: any; sorted
    std::string queue{};               // empty: any

    bool hold(const JobSpec& job) const {
        return (tenant.empty() || tenant == job.tenant) && (queue.empty() || queue == job.queue) &&
               (types.empty() || std::binary_search(types.begin(), types.end(), job.type));
    }
};

// Instead of a lease's token: for a worker that knows only its own name. It means the attempt that
// it claimed last.
struct ByWorker {
    std::string worker_id{};       // empty: the worker that has the job, any
    std::optional<int> attempt{};  // nothing: the last one; any other is stale
};

struct Heartbeat {
    LeaseId lease{};
    std::optional<Duration> term{};
    std::optional<int> progress{};
    std::optional<std::string> message{};
    WorkerBounds bounds{};
    std::optional<ByWorker> by_worker{};
    std::optional<std::string> phase{};  // only with a name: the phase of the message
};
struct Extended {
    Timestamp until{};
    bool stop_requested = false;
    // After a heartbeat by name: the job as it is now. It may not be running.
    std::shared_ptr<const Job> job{};
};

struct LogEntry {
    LogLevel level = LogLevel::info;
    std::string message{};
    std::string data{};
    std::optional<Timestamp> at{};
    std::optional<std::int64_t> line{};  // the worker's own line number, for telling repeats
};
struct AppendLogs {
    LeaseId lease{};
    std::vector<LogEntry> entries{};
    std::int64_t batch_mark =
        0;  // not zero: a batch with the same mark as the one before is a repeat
    WorkerBounds bounds{};
};
inline std::size_t bytes_of(const AppendLogs& lines) {
    std::size_t bytes = 0;
    for (const LogEntry& entry : lines.entries) bytes += entry.message.size() + entry.data.size();
    return bytes;
}
struct Appended {
    std::int64_t last_seq = 0;  // of the job's last line
    int stored = 0;             // how many of the lines were new
};

enum class Outcome { succeeded, failed, canceled, timed_out };
struct Report {
    LeaseId lease{};
    Outcome outcome = Outcome::succeeded;
    std::string result{};  // JSON, or empty
    std::string error_code{};
    std::string error_message{};
    bool retryable = true;
    std::string actor{};  // reports instead of the worker; empty: the worker
    WorkerBounds bounds{};
    std::optional<ByWorker> by_worker{};
};

// Gives a job back; the attempt does not count.
struct HandBack {
    LeaseId lease{};
    std::string reason{};
    WorkerBounds bounds{};
};

// ── requests of clients ──

// An empty tenant stands for any: the caller may see them all.
struct CancelJob {
    JobId job{};
    std::string tenant{};
    std::string reason{};
    std::string actor{};
    bool is_admin = false;   // jobs of some types only admins may cancel
    std::string queue{};     // empty: any
    bool only_once = false;  // a job that is canceled already is refused
};
struct ReplayJob {
    JobId job{};
    std::string tenant{};
    std::string reason{};
    std::string actor{};
    std::string idempotency_key{};
    Digest body_digest{};
};
struct ExplainJob {
    JobId job{};
    std::string tenant{};
};
struct Reason {
    std::string code{};          // not_due, retry_backoff, dependency, exclusive_key, no_worker…
    std::string detail{};        // for people
    std::string blocker_kind{};  // job, worker, lease… or empty
    std::string blocker{};       // the id of that job, worker, lease…
    std::optional<Timestamp> until{};  // the next moment at which this could change, if known
};
struct Explanation {
    JobState state = JobState::queued;
    std::vector<Reason> reasons{};
};

// ── requests of clients about entities ──
struct EntityAnswer {
    std::optional<Entity> entity{};  // after the change
    std::vector<Entity> others{};    // entities that changed with it, or were asked for
    std::vector<Job> jobs{};         // enqueued by the change, in order
};
class EntityChanges;
// Decides in the batch's transaction. It may be called again when its session lost against another
// one, and its changes are dropped when it refuses.
struct EntityAction {
    // The entities that it will ask for, as far as the request names them: all of a batch are
    // locked at once. An entity that only an attribute names is locked when it is asked for, if no
    // other session has it; see EntitiesBusy. The first one decides which committer is used.
    std::vector<EntityKey> touches{};
    std::function<Result<EntityAnswer>(EntityChanges&)> decide{};
};

// ── questions of operators ──
struct AskDepths {
    bool count = true;  // false: only whether the store answers
};
struct Depth {
    Lane lane;
    std::int64_t queued = 0;  // claimable or waiting for something
};
using Depths = std::vector<Depth>;

// An empty tenant stands for any.
struct AskWorkers {
    std::string tenant{};
};
struct WorkerSeen {
    std::string worker_id;
    ClaimFilter filter;
    Timestamp at{};        // its last claim
    bool waiting = false;  // it has a waiting claim right now
};
using WorkersSeen = std::vector<WorkerSeen>;

}  // namespace sluice
