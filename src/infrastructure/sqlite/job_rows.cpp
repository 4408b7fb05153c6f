#include "infrastructure/sqlite/job_rows.hpp"

#include <charconv>

#include "domain/check.hpp"

namespace sluice::sqlite {
namespace {

void append_number(std::string& out, std::int64_t number) {
    char digits[24];
    const auto end = std::to_chars(digits, digits + sizeof digits, number).ptr;
    out.append(digits, end);
}

// Takes the number at the front of `text`, and the one character after it, if any.
std::int64_t take_number(std::string_view& text) {
    std::int64_t number = 0;
    const char* last = text.data() + text.size();
    const auto [end, error] = std::from_chars(text.data(), last, number);
    check(error == std::errc{}, "a stored list holds numbers");
    text.remove_prefix(static_cast<std::size_t>(end - text.data()));
    if (!text.empty()) text.remove_prefix(1);
    return number;
}

// NULL while it is as the job was submitted with, which it nearly always is.
std::optional<Timestamp> moved_run_after(const Job& job) {
    return job.run_after == job.spec.run_after ? std::nullopt : std::optional(job.run_after);
}

void read_standing(Row& row, Job& job) {
    job.attempt = row.small();
    const std::optional<Timestamp> run_after = row.maybe_time();
    job.run_after = run_after.value_or(job.spec.run_after);
    const std::optional<std::int64_t> progress = row.maybe_integer();
    job.progress = progress ? std::optional(static_cast<int>(*progress)) : std::nullopt;
    job.message = row.text();
    job.error_code = row.text();
    job.error_message = row.text();
    job.result = row.text();
    job.log_seq = row.integer();
    job.head.seq = row.integer();
    job.head.hash = row.digest();
}

constexpr int standing_columns = 10;

std::optional<JobState> maybe_state(Row& row) {
    const std::optional<std::int64_t> state = row.maybe_integer();
    return state ? std::optional(static_cast<JobState>(*state)) : std::nullopt;
}

}  // namespace

std::string join_texts(const std::vector<std::string>& texts) {
    std::string joined;
    for (const std::string& text : texts) {
        append_number(joined, static_cast<std::int64_t>(text.size()));
        joined += ':';
        joined += text;
    }
    return joined;
}

void split_texts(std::string_view joined, std::vector<std::string>& texts) {
    texts.clear();
    while (!joined.empty()) {
        const auto size = static_cast<std::size_t>(take_number(joined));
        check(size <= joined.size(), "a stored list is whole");
        texts.emplace_back(joined.substr(0, size));
        joined.remove_prefix(size);
    }
}

std::string join_ids(const std::vector<JobId>& ids) {
    std::string joined;
    for (const JobId id : ids) {
        if (!joined.empty()) joined += ',';
        append_number(joined, id.value);
    }
    return joined;
}

std::vector<JobId> split_ids(std::string_view joined) {
    std::vector<JobId> ids;
    while (!joined.empty()) ids.push_back(JobId{take_number(joined)});
    return ids;
}

std::string backoff_text(const Backoff& backoff) {
    std::string text;
    switch (backoff.kind) {
        case Backoff::Kind::none: break;
        case Backoff::Kind::list:
            text = 'l';
            for (const Duration delay : backoff.delays) {
                if (text.size() > 1) text += ',';
                append_number(text, delay.count());
            }
            break;
        case Backoff::Kind::exponential:
            text = 'e';
            append_number(text, backoff.base.count());
            text += ',';
            append_number(text, backoff.cap.count());
            break;
    }
    return text;
}

Backoff parse_backoff(std::string_view text) {
    Backoff backoff;
    if (text.empty()) return backoff;
    backoff.kind = text.front() == 'l' ? Backoff::Kind::list : Backoff::Kind::exponential;
    text.remove_prefix(1);
    if (backoff.kind == Backoff::Kind::list) {
        while (!text.empty()) backoff.delays.emplace_back(take_number(text));
    } else {
        backoff.base = Duration{take_number(text)};
        backoff.cap = Duration{take_number(text)};
    }
    return backoff;
}

bool may_be_requeued(const Job& job, std::int64_t events) {
    return job.head.seq > events || job.run_after != job.spec.run_after;
}

JobTexts::JobTexts(const JobSpec& spec)
    : labels(join_texts(spec.labels)),
      exclusive_keys(join_texts(spec.exclusive_keys)),
      backoff(backoff_text(spec.backoff)) {}

void bind_job(Statement& insert, int place, const Job& job, const JobTexts& texts) {
    const JobSpec& spec = job.spec;
    const auto run_after =
        spec.run_after == spec.created_at ? std::nullopt : std::optional(spec.run_after);
    insert.bind_from(place, spec.id, spec.tenant, spec.queue, spec.type, spec.priority,
                     spec.created_at, run_after, given(texts.labels), given(spec.site_id),
                     given(spec.node_id), given(texts.exclusive_keys), spec.depends_on.size(),
                     spec.max_attempts, spec.timeout, given(texts.backoff), spec.retry_on_timeout,
                     spec.on_dependency_failure == OnDependencyFailure::run, given(spec.project),
                     given(spec.entity_type), given(spec.entity_id), given(spec.source),
                     given(spec.correlation_id), spec.replay_of, spec.payload_digest, job.head.hash,
                     spec.payload);
}

void bind_requeued(Statement& insert, int place, const Job& job) {
    insert.bind_from(place, job.spec.id, job.started_at, job.attempt, moved_run_after(job),
                     job.progress, given(job.message), given(job.error_code),
                     given(job.error_message), given(job.result), job.log_seq, job.head.seq,
                     job.head.hash);
}

void bind_lease(Statement& insert, int place, const Job& job) {
    const Lease& lease = *job.lease;
    insert.bind_from(place, job.spec.id, lease.token, lease.worker_id, lease.since, lease.until,
                     lease.term, lease.stop_requested, lease.client_seq, lease.batch_mark,
                     job.attempt, moved_run_after(job), job.progress, given(job.message),
                     given(job.error_code), given(job.error_message), given(job.result),
                     job.log_seq, job.head.seq, job.head.hash);
}

void bind_done(Statement& insert, int place, const Job& job) {
    insert.bind_from(place, job.spec.id, job.state, job.started_at, *job.completed_at, job.attempt,
                     moved_run_after(job), job.progress, given(job.message), given(job.error_code),
                     given(job.error_message), given(job.result), job.log_seq, job.head.seq,
                     job.head.hash);
}

void bind_event(Statement& insert, int place, const Event& event) {
    insert.bind_from(place, event.job, event.seq, event.step, event.from, event.to, event.attempt,
                     event.lease, event.at, event.log_seq, event.actor, given(event.detail),
                     event.hash);
}

void bind_line(Statement& insert, int place, const LogLine& line) {
    insert.bind_from(place, line.job, line.seq, line.attempt, line.level, line.at, line.event_seq,
                     line.message, given(line.data));
}

void update_lease(Statement& update, const Job& job) {
    const Lease& lease = *job.lease;
    update
        .with(lease.until, lease.term, lease.stop_requested, lease.client_seq, lease.batch_mark,
              job.progress, given(job.message), job.log_seq, job.head.seq, job.head.hash,
              job.spec.id, lease.token)
        .run_on_one_row();
}

void update_done(Statement& update, const Job& job) {
    update
        .with(job.progress, given(job.message), job.log_seq, job.head.seq, job.head.hash,
              job.spec.id)
        .run_on_one_row();
}

int read_queue_spec(Row& row, JobSpec& spec) {
    spec.id = JobId{row.integer()};
    spec.tenant = row.text();
    spec.queue = row.text();
    spec.type = row.text();
    spec.priority = row.small();
    spec.created_at = row.time();
    spec.run_after = row.maybe_time().value_or(spec.created_at);
    split_texts(row.text(), spec.labels);
    spec.site_id = row.text();
    spec.node_id = row.text();
    split_texts(row.text(), spec.exclusive_keys);
    return row.small();
}

int read_spec(Row& row, JobSpec& spec, Digest& first_hash) {
    const int dependencies = read_queue_spec(row, spec);
    spec.max_attempts = row.small();
    spec.timeout = row.duration();
    spec.backoff = parse_backoff(row.text());
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
    spec.payload_digest = row.digest();
    first_hash = row.digest();
    spec.payload = row.text();
    return dependencies;
}

void read_requeued(Row& row, Job& job) {
    if (row.next_is_null()) {
        row.skip(2 + standing_columns);
        return;
    }
    row.skip(1);
    job.started_at = row.maybe_time();
    read_standing(row, job);
}

void read_done(Row& row, Job& job) {
    if (row.next_is_null()) {
        row.skip(3 + standing_columns);
        return;
    }
    job.state = static_cast<JobState>(row.integer());
    job.started_at = row.maybe_time();
    job.completed_at = row.time();
    read_standing(row, job);
}

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
    if (!is_final(job.state)) {
        job.state = JobState::running;
        job.started_at = lease.since;
        read_standing(row, job);
        return;
    }
    // The worker of an ended job can still say how far it is, but not how the job ended.
    Job said;
    read_standing(row, said);
    job.progress = said.progress;
    job.message = std::move(said.message);
    job.log_seq = said.log_seq;
    job.head = said.head;
}

Event read_event(Row& row, JobId job) {
    Event event;
    event.job = job;
    event.seq = row.integer();
    event.step = static_cast<Step>(row.integer());
    event.from = maybe_state(row);
    event.to = maybe_state(row);
    event.attempt = row.small();
    const std::optional<std::int64_t> lease = row.maybe_integer();
    if (lease) event.lease = LeaseToken{*lease};
    event.at = row.time();
    event.log_seq = row.integer();
    event.actor = row.text();
    event.detail = row.text();
    event.hash = row.digest();
    return event;
}

LogLine read_line(Row& row, JobId job) {
    LogLine line;
    line.job = job;
    line.seq = row.integer();
    line.attempt = row.small();
    line.level = static_cast<LogLevel>(row.integer());
    line.at = row.time();
    line.event_seq = row.integer();
    line.message = row.text();
    line.data = row.text();
    return line;
}

}  // namespace sluice::sqlite
