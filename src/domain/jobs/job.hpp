#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "domain/jobs/backoff.hpp"
#include "domain/jobs/ids.hpp"
#include "domain/jobs/job_state.hpp"
#include "domain/values/result.hpp"
#include "domain/values/sha256.hpp"
#include "domain/values/shared_text.hpp"
#include "domain/values/time.hpp"

namespace sluice {

// The effect on a job of a dependency that ends without success.
enum class OnDependencyFailure { cancel, run };
std::string_view to_text(OnDependencyFailure choice);
std::optional<OnDependencyFailure> parse_on_dependency_failure(std::string_view text);

// The form in which a job's history is hashed (history.hpp). A history keeps the form in which it
// was begun.
inline constexpr int newest_history_form = 2;

// A job as it was submitted. Written once and never changed. An empty string means that a field was
// not given.
struct JobSpec {
    JobId id;
    std::string tenant = "default";
    std::string project;
    std::string queue = "default";
    std::string type;
    int priority = 0;  // higher runs first
    Timestamp created_at{};
    Timestamp run_after{};  // as asked for; a retry moves Standing::run_after
    Duration timeout{};     // from the start of an attempt; zero: no deadline
    int max_attempts = 1;
    Backoff backoff;
    bool retry_on_timeout = false;
    std::string entity_type;
    std::string entity_id;
    std::string site_id;
    std::string node_id;
    std::vector<std::string> exclusive_keys;
    std::vector<std::string> labels;  // a worker must have all of them; sorted, without repeats
    std::vector<JobId> depends_on;    // sorted, without repeats
    OnDependencyFailure on_dependency_failure = OnDependencyFailure::cancel;
    std::string source;
    std::string correlation_id;
    std::string idempotency_key;  // of the request that made it
    std::optional<JobId> replay_of;
    SharedText payload = "null";  // JSON, byte for byte as it came
    Digest payload_digest{};
    int history_form = newest_history_form;

    bool operator==(const JobSpec&) const = default;
};

// A spec that any number of jobs, caches and answers hold together, on any thread: it never
// changes, so that to copy a job copies no text of its spec.
class SharedSpec {
  public:
    SharedSpec() = default;  // of no job
    SharedSpec(JobSpec spec) : spec_(std::make_shared<const JobSpec>(std::move(spec))) {}

    const JobSpec& operator*() const { return spec_ ? *spec_ : none(); }
    const JobSpec* operator->() const { return &**this; }
    operator const JobSpec&() const { return **this; }

    bool operator==(const SharedSpec& other) const {
        return spec_ == other.spec_ || **this == *other;
    }
    bool operator==(const JobSpec& other) const { return **this == other; }

  private:
    static const JobSpec& none();

    std::shared_ptr<const JobSpec> spec_;
};

// Every key that the job holds alone while it runs: its site, its node, and its exclusive keys.
std::vector<std::string> held_keys(const JobSpec& spec);

// One worker's hold on one job. It outlives the job's end when the job was canceled or timed out
// while its worker has not stopped yet.
struct Lease {
    LeaseToken token;
    std::string worker_id;
    Timestamp since{};  // when the attempt started
    Timestamp until{};
    Duration term{};              // how long a heartbeat extends it
    bool stop_requested = false;  // the worker is told in its next heartbeat
    std::int64_t client_seq = 0;  // the last line number that the worker gave with its log lines
    std::int64_t batch_mark =
        0;  // identifies the last batch of log lines that had times but no numbers

    bool operator==(const Lease&) const = default;
};

// The end of a job's chain of events: the number of its last event and that event's hash.
struct ChainHead {
    std::int64_t seq = 0;
    Digest hash{};

    bool operator==(const ChainHead&) const = default;
};

// The state of a job: everything that changes, but for its lease.
struct Standing {
    JobState state = JobState::queued;
    int attempt = 0;  // how many times it was claimed, without attempts handed back
    Timestamp run_after{};
    std::optional<Timestamp> started_at{};    // of the current or last attempt
    std::optional<Timestamp> completed_at{};  // set when, and only when, the state is final
    std::optional<int> progress{};            // 0..100
    std::string message{};
    std::string result{};  // JSON as reported; empty: none
    std::string error_code{};
    std::string error_message{};
    std::int64_t log_seq = 0;          // the number of its log lines
    std::optional<Digest> log_hash{};  // over all of its log lines; none while there is none
    ChainHead head{};

    bool operator==(const Standing&) const = default;

    // Takes over progress, message and log numbers that a worker sends under its lease, even when
    // the job has ended; but not how the job ends.
    void apply_worker_update(const Standing& said);
};

struct Job {
    SharedSpec spec;
    Standing now;
    std::optional<Lease> lease;
    // The first part of the stored row that is not as it was written, e.g. "payload"; empty: the
    // row is whole. A part that could not be read has the value of a field that was not given.
    std::string damage;

    bool operator==(const Job&) const = default;

    // Takes the step if the table allows it, or refuses with `conflict` and changes nothing.
    Result<JobState> apply(Step step);

    bool is_leased_under(LeaseToken token) const { return lease && lease->token == token; }

    // When the current attempt must have ended, or `never`.
    Timestamp deadline() const;
};

// The job as it was the moment it was accepted.
Job accepted(JobSpec spec);

inline constexpr std::string_view lease_expired_code = "LEASE_EXPIRED";
inline constexpr std::string_view lease_released_code = "LEASE_RELEASED";
inline constexpr std::string_view job_timeout_code = "JOB_TIMEOUT";
inline constexpr std::string_view dependency_failed_code = "DEPENDENCY_FAILED";
inline constexpr std::string_view resource_failed_code = "RESOURCE_FAILED";
inline constexpr std::string_view gate_closed_code = "GATE_CLOSED";
inline constexpr std::string_view job_damaged_code = "JOB_DAMAGED";

}  // namespace sluice
