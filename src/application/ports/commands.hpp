#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "application/ports/limit_store.hpp"
#include "domain/entities/entity.hpp"
#include "domain/jobs/history.hpp"
#include "domain/jobs/lane.hpp"
#include "domain/limits/limit_effect.hpp"
#include "domain/limits/limit_rules.hpp"
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
// Takes a job away from its worker.
struct ReleaseLease {
    JobId job{};
    std::string tenant{};
    std::string reason{};
    std::string actor{};
    std::string ticket{};
    bool dry_run = false;  // nothing is changed; the answer is the job as it would be
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
    Viewer viewer = Viewer::any_tenant;
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

// ── changes of limits ──

struct LimitAnswer {
    std::vector<LimitRule> rules{};       // that were written or lifted, as they are now
    std::vector<std::string> warnings{};  // for people
    LimitEffect effect{};
    std::string profile{};                // that was written
    std::vector<std::string> tenants{};   // of the profile, now
    std::vector<std::string> profiles{};  // all that were written or removed
    bool is_new = false;                  // the rule was made
    std::int64_t revision = 0;            // of the profile that was written; 0: there is none now
};
// Decides on rules in a session of its own: see application/limits/change_limits.hpp. It may be
// called again when its session lost against another one.
struct ChangeLimits {
    bool dry_run = false;  // nothing is kept; the answer is what it would be
    std::function<Result<LimitAnswer>(EntityChanges&)> decide{};
    // The effect is told of this tenant's jobs only, without what others use; empty: of all.
    std::string only_tenant{};
};

// ── questions of operators ──

// The rules with their use. An empty tenant stands for any; else only rules that cover the tenant.
struct AskLimits {
    std::string tenant{};
    std::string rule{};  // only this one; empty: all
    // For a caller of that tenant: only its own jobs are counted, and meters that other tenants
    // count in, too, are not shown.
    bool only_own = false;
};
struct MeterUse {
    std::string meter{};  // its name; empty for the one meter of a rule
    MeterState state{};
    Room room{};
    std::int64_t tokens = 0;
    std::int64_t active = 0;   // leases, also where the rule does not bound them
    std::int64_t waiting = 0;  // claimable jobs beyond what this rule permits
    bool is_more = false;      // more may wait than that: counting has ended early
};
struct RuleUse {
    LimitRule rule{};
    std::vector<MeterUse> meters{};  // the busiest first, 100 at the most
    std::int64_t meter_count = 0;
    std::int64_t active = 0;
    std::int64_t waiting = 0;
    bool is_more = false;  // more may wait than that: counting has ended early
    // Of all meters with a rate: starts that count now, and how many may. They are those of the
    // last hour where that is bounded, else tokens of the buckets.
    std::int64_t rate_used = 0;
    std::int64_t rate_max = 0;
    std::int64_t meters_closed = 0;
};
struct LimitsNow {
    std::vector<RuleUse> rules{};
    LimitRules::Profiles profiles{};
    std::int64_t version = 0;
};

// Whether a job of this lane could start now, but for workers.
struct AskStart {
    Lane lane{};
    Viewer viewer = Viewer::any_tenant;
};
struct HeldBy {
    std::string code{};
    std::string detail{};
    std::string rule{};  // its id
    std::optional<Timestamp> until{};
};
struct StartNow {
    std::vector<HeldBy> held_by{};  // none: it could
    std::optional<Timestamp> next_eligible_at{};
};

// Compares the meters with the leases. A repair is noted in the control history.
struct CheckMeters {
    bool repair = false;
    std::string actor{};
    std::string reason{};  // need not be given
    std::string ticket{};
};
using MeterDifferences = std::vector<MeterDifference>;

// An empty tenant stands for any.
struct AskSources {
    std::string tenant{};
};
struct SourceNow {
    SourceCount last_day{};
    std::int64_t queued = 0;  // claimable, counted up to a maximum
    bool is_more = false;     // more are claimable
    std::int64_t active = 0;
    std::optional<LimitRule> pause{};  // the rule that pauses it, if any
};
using SourcesNow = std::vector<SourceNow>;
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
