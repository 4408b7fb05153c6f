#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "domain/history.hpp"
#include "domain/job.hpp"

// How jobs, events and log lines look as rows, in every store that keeps them in tables. The order
// of values here is the order of the columns in the stores' schemas.
//
// Writers are called with the values of one row; their texts are those of the job itself, so that
// they can be used without a copy for as long as that lives. Readers take anything that has the
// words of sqlite::Row and postgres::Row. What they cannot read makes the row damaged
// (row_words.hpp) and not the engine fail: Job::damage tells.
namespace sluice {

// Lists of strings as netstrings ("3:abc2:de"), since the strings may contain anything. What splits
// a list gives false, and an empty one, when the text is none.
std::string join_texts(const std::vector<std::string>& texts);
bool split_texts(std::string_view joined, std::vector<std::string>& texts);

std::string join_ids(const std::vector<JobId>& ids);
bool split_ids(std::string_view joined, std::vector<JobId>& ids);

std::string backoff_text(const Backoff& backoff);
std::optional<Backoff> parse_backoff(std::string_view text);

// An empty string stands for a value that was not given, and is stored as NULL.
inline std::optional<std::string_view> given(std::string_view text) {
    return text.empty() ? std::nullopt : std::optional(text);
}

// Whether the job may have a row in requeued: it stands otherwise than its row in job tells.
// `events` is how many it would have by now if it had only been submitted before.
bool may_be_requeued(const Job& job, std::int64_t events);

// When the worker of a leased job is to be asked to stop, if ever: one that was asked is not asked
// again, and one whose job has ended has nothing left to be late with.
std::optional<Timestamp> watched_deadline(const Job& job);

// A job's lists as they are stored, which a statement refers to while it is run.
struct JobTexts {
    explicit JobTexts(const JobSpec& spec);

    std::string labels;
    std::string exclusive_keys;
    std::string backoff;
};

// ── writing ──

// NULL while it is as the job was submitted with, which it nearly always is.
std::optional<Timestamp> moved_run_after(const Job& job);

// `dependencies` is what the store keeps of them in this row.
template <class Write, class Dependencies>
void write_job(Write&& write, const Job& job, const JobTexts& texts,
               const Dependencies& dependencies) {
    const JobSpec& spec = job.spec;
    const auto run_after =
        spec.run_after == spec.created_at ? std::nullopt : std::optional(spec.run_after);
    const bool run_despite_failure = spec.on_dependency_failure == OnDependencyFailure::run;
    write(spec.id, spec.tenant, spec.queue, spec.type, spec.priority, spec.created_at, run_after,
          given(texts.labels), given(spec.site_id), given(spec.node_id),
          given(texts.exclusive_keys), dependencies, spec.max_attempts, spec.timeout,
          given(texts.backoff), spec.retry_on_timeout, run_despite_failure, given(spec.project),
          given(spec.entity_type), given(spec.entity_id), given(spec.source),
          given(spec.correlation_id), spec.replay_of, spec.payload_digest, job.now.head.hash,
          spec.payload, given(spec.idempotency_key));
}

// `more`, here and below: the columns that only some stores have, after those of all.
template <class Write, class... More>
void write_requeued(Write&& write, const Job& job, const More&... more) {
    write(job.spec->id, job.now.started_at, job.now.attempt, moved_run_after(job), job.now.progress,
          given(job.now.message), given(job.now.error_code), given(job.now.error_message),
          given(job.now.result), job.now.log_seq, job.now.head.seq, job.now.head.hash, more...);
}

template <class Write, class... More>
void write_lease(Write&& write, const Job& job, const More&... more) {
    const Lease& lease = *job.lease;
    write(job.spec->id, lease.token, lease.worker_id, lease.since, lease.until, lease.term,
          lease.stop_requested, lease.client_seq, lease.batch_mark, job.now.attempt,
          moved_run_after(job), job.now.progress, given(job.now.message), given(job.now.error_code),
          given(job.now.error_message), given(job.now.result), job.now.log_seq, job.now.head.seq,
          job.now.head.hash, more...);
}

// What a heartbeat, log lines or an end under a worker change, then the id and token of the lease.
template <class Write, class... More>
void write_lease_change(Write&& write, const Job& job, const More&... more) {
    const Lease& lease = *job.lease;
    write(lease.until, lease.term, lease.stop_requested, lease.client_seq, lease.batch_mark,
          job.now.progress, given(job.now.message), job.now.log_seq, job.now.head.seq,
          job.now.head.hash, job.spec->id, lease.token, more...);
}

template <class Write>
void write_done(Write&& write, const Job& job) {
    write(job.spec->id, job.now.state, job.now.started_at, *job.now.completed_at, job.now.attempt,
          moved_run_after(job), job.now.progress, given(job.now.message), given(job.now.error_code),
          given(job.now.error_message), given(job.now.result), job.now.log_seq, job.now.head.seq,
          job.now.head.hash, given(job.spec->project),
          job.spec->project.empty() ? std::nullopt : given(job.spec->type));
}

// What is left to know of a job whose lease outlived it, once that is closed; then its id.
template <class Write>
void write_done_change(Write&& write, const Job& job) {
    write(job.now.progress, given(job.now.message), job.now.log_seq, job.now.head.seq,
          job.now.head.hash, job.spec->id);
}

template <class Write>
void write_event(Write&& write, const Event& event) {
    write(event.job, event.seq, event.step, event.from, event.to, event.attempt, event.lease,
          event.at, event.log_seq, event.actor, given(event.detail), event.hash);
}

template <class Write>
void write_line(Write&& write, const LogLine& line) {
    write(line.job, line.seq, line.attempt, line.level, line.at, line.event_seq, line.message,
          given(line.data));
}

// ── reading ──

// Reads the columns of a job up to the dependencies, which are the next and which each store keeps
// in its own way; into a spec whose other fields are left alone.
template <class Row>
void read_queue_spec(Row& row, JobSpec& spec) {
    spec.id = JobId{row.integer()};
    spec.tenant = row.text();
    spec.queue = row.text();
    spec.type = row.text();
    spec.priority = row.small();
    spec.created_at = row.time();
    spec.run_after = row.maybe_time().value_or(spec.created_at);
    if (!split_texts(row.text(), spec.labels)) row.note_damage("labels");
    spec.site_id = row.text();
    spec.node_id = row.text();
    if (!split_texts(row.text(), spec.exclusive_keys)) row.note_damage("exclusive_keys");
}

// Reads the columns of a job after the dependencies.
template <class Row>
void read_rest_of_spec(Row& row, JobSpec& spec, Digest& first_hash) {
    spec.max_attempts = row.small();
    spec.timeout = row.duration();
    if (const std::optional<Backoff> backoff = parse_backoff(row.text())) {
        spec.backoff = *backoff;
    } else {
        row.note_damage("backoff");
    }
    spec.retry_on_timeout = row.flag();
    spec.on_dependency_failure =
        row.flag() ? OnDependencyFailure::run : OnDependencyFailure::cancel;
    spec.project = row.text();
    spec.entity_type = row.text();
    spec.entity_id = row.text();
    spec.source = row.text();
    spec.correlation_id = row.text();
    const std::optional<std::int64_t> replay_of = row.maybe_integer();
    spec.replay_of = replay_of ? std::optional(JobId{*replay_of}) : std::nullopt;
    spec.payload_digest = row.digest("payload_digest");
    first_hash = row.digest("head_hash");
    spec.payload = row.text();
    // A payload with the digest of the accepted one is the accepted one, and so valid JSON.
    if (sha256(spec.payload) != spec.payload_digest) {
        row.note_damage("payload");
        spec.payload = "null";
    }
    spec.idempotency_key = row.text();
}

inline constexpr int standing_columns = 10;

// Reads the columns with which requeued, done and lease end: how the job stands.
template <class Row>
void read_standing(Row& row, Job& job) {
    job.now.attempt = row.small();
    const std::optional<Timestamp> run_after = row.maybe_time();
    job.now.run_after = run_after.value_or(job.spec->run_after);
    const std::optional<std::int64_t> progress = row.maybe_integer();
    job.now.progress = progress ? std::optional(static_cast<int>(*progress)) : std::nullopt;
    job.now.message = row.text();
    job.now.error_code = row.text();
    job.now.error_message = row.text();
    job.now.result = row.json("result");
    job.now.log_seq = row.integer();
    job.now.head.seq = row.integer();
    job.now.head.hash = row.digest("head_hash");
}

// The next three read the columns of their tables into a job whose spec is known, in this order.
// Nothing is changed where there is no such row.
template <class Row>
void read_requeued(Row& row, Job& job) {
    if (row.next_is_null()) {
        row.skip(2 + standing_columns);
        return;
    }
    row.skip(1);
    job.now.started_at = row.maybe_time();
    read_standing(row, job);
}

// Without the id.
template <class Row>
void read_done(Row& row, Job& job) {
    if (row.next_is_null()) {
        row.skip(3 + standing_columns);
        return;
    }
    job.now.state = row.one_of(JobState::succeeded, JobState::timed_out, JobState::failed, "state");
    job.now.started_at = row.maybe_time();
    job.now.completed_at = row.time();
    read_standing(row, job);
}

// Without the id, and without what only some stores have.
template <class Row>
void read_lease(Row& row, Job& job) {
    if (row.next_is_null()) return;

    Lease& lease = job.lease.emplace();
    lease.token = LeaseToken{row.integer()};
    lease.worker_id = row.text();
    lease.since = row.time();
    lease.until = row.time();
    lease.term = row.duration();
    lease.stop_requested = row.flag();
    lease.client_seq = row.integer();
    lease.batch_mark = row.integer();
    if (!is_final(job.now.state)) {
        job.now.state = JobState::running;
        job.now.started_at = lease.since;
        read_standing(row, job);
        return;
    }
    // The worker of an ended job can still say how far it is, but not how the job ended.
    Job said;
    read_standing(row, said);
    job.now.progress = said.now.progress;
    job.now.message = std::move(said.now.message);
    job.now.log_seq = said.now.log_seq;
    job.now.head = said.now.head;
}

template <class Row>
std::optional<JobState> read_maybe_state(Row& row) {
    if (!row.next_is_null()) {
        return row.one_of(JobState::queued, JobState::timed_out, JobState::failed, "state");
    }
    row.skip(1);
    return std::nullopt;
}

// Without the id of the job.
template <class Row>
Event read_event(Row& row, JobId job) {
    Event event;
    event.job = job;
    event.seq = row.integer();
    event.step = row.one_of(Step::submitted, Step::lease_closed, Step::failed, "step");
    event.from = read_maybe_state(row);
    event.to = read_maybe_state(row);
    event.attempt = row.small();
    const std::optional<std::int64_t> lease = row.maybe_integer();
    if (lease) event.lease = LeaseToken{*lease};
    event.at = row.time();
    event.log_seq = row.integer();
    event.actor = row.text();
    event.detail = row.json("detail");
    event.hash = row.digest("hash");
    event.damaged = !row.damage().empty();
    return event;
}

// Without the id of the job.
template <class Row>
LogLine read_line(Row& row, JobId job) {
    LogLine line;
    line.job = job;
    line.seq = row.integer();
    line.attempt = row.small();
    line.level = row.one_of(LogLevel::info, LogLevel::error, LogLevel::error, "level");
    line.at = row.time();
    line.event_seq = row.integer();
    line.message = row.text();
    line.data = row.json("data");
    line.damaged = !row.damage().empty();
    return line;
}

}  // namespace sluice
