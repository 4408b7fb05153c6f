#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "domain/jobs/history.hpp"
#include "domain/jobs/job.hpp"
#include "infrastructure/sql/table.hpp"

// How jobs, events and log lines look as rows, in every store that keeps them in tables. Columns
// that only one store has are in its own tables (sqlite/database/tables.hpp,
// postgres/schema/tables.hpp).
//
// Readers take anything that has the functions of sqlite::Row and postgres::Row. A column that they
// cannot read makes the row damaged (row_reader.hpp) and not the engine fail: Job::damage names the
// column.
namespace sluice {

// Lists of strings as netstrings ("3:abc2:de"), since the strings may contain anything. The
// functions that split a list give false, and an empty list, when the text is not one.
std::string join_texts(const std::vector<std::string>& texts);
bool split_texts(std::string_view joined, std::vector<std::string>& texts);

std::string join_ids(const std::vector<JobId>& ids);
bool split_ids(std::string_view joined, std::vector<JobId>& ids);

std::string backoff_text(const Backoff& backoff);
std::optional<Backoff> parse_backoff(std::string_view text);

// Whether the job may have a row in requeued: its state differs from its row in job. `events` is
// how many it would have by now if it had only been submitted before.
bool may_be_requeued(const Job& job, std::int64_t events);

// When the worker of a leased job has to be asked to stop, if ever: it is not asked twice, and not
// after the job has ended.
std::optional<Timestamp> watched_deadline(const Job& job);

// The text by which a success is found in done.
std::string success_for(const std::string& tenant, const std::string& entity_type,
                        const std::string& entity_id);

namespace rows {

// ── codecs ──

// A list of texts.
template <auto... path>
struct Texts {
    template <class Parts>
    static MadeText write(const Parts& parts) {
        return {join_texts(at<path...>(parts))};
    }
    template <class Row, class Parts>
    static void read(Row& row, const Parts& parts, std::string_view name) {
        if (!split_texts(row.text(), at<path...>(parts))) row.note_damage(name);
    }
};

// A list of ids.
template <auto... path>
struct Ids {
    template <class Parts>
    static MadeText write(const Parts& parts) {
        return {join_ids(at<path...>(parts))};
    }
    template <class Row, class Parts>
    static void read(Row& row, const Parts& parts, std::string_view name) {
        if (!split_ids(row.text(), at<path...>(parts))) row.note_damage(name);
    }
};

struct BackoffCodec {
    template <class Parts>
    static MadeText write(const Parts& parts) {
        return {backoff_text(part<JobSpec>(parts).backoff)};
    }
    template <class Row, class Parts>
    static void read(Row& row, const Parts& parts, std::string_view name) {
        if (std::optional<Backoff> backoff = parse_backoff(row.text())) {
            part<JobSpec>(parts).backoff = *std::move(backoff);
        } else {
            row.note_damage(name);
        }
    }
};

// NULL: when the job was created; that column is read before.
struct AskedRunAfter {
    template <class Parts>
    static std::optional<Timestamp> write(const Parts& parts) {
        const JobSpec& spec = part<JobSpec>(parts);
        return spec.run_after == spec.created_at ? std::nullopt : std::optional(spec.run_after);
    }
    template <class Row, class Parts>
    static void read(Row& row, const Parts& parts, std::string_view) {
        JobSpec& spec = part<JobSpec>(parts);
        spec.run_after = row.maybe_time().value_or(spec.created_at);
    }
};

// NULL: the run_after that the job was submitted with, as nearly always.
struct MovedRunAfter {
    template <class Parts>
    static std::optional<Timestamp> write(const Parts& parts) {
        const Timestamp now = part<Standing>(parts).run_after;
        return now == part<JobSpec>(parts).run_after ? std::nullopt : std::optional(now);
    }
    template <class Row, class Parts>
    static void read(Row& row, const Parts& parts, std::string_view) {
        const JobSpec& spec = part<JobSpec>(parts);
        part<Standing>(parts).run_after = row.maybe_time().value_or(spec.run_after);
    }
};

struct RunDespiteFailure {
    template <class Parts>
    static bool write(const Parts& parts) {
        return part<JobSpec>(parts).on_dependency_failure == OnDependencyFailure::run;
    }
    template <class Row, class Parts>
    static void read(Row& row, const Parts& parts, std::string_view) {
        part<JobSpec>(parts).on_dependency_failure =
            row.flag() ? OnDependencyFailure::run : OnDependencyFailure::cancel;
    }
};

// A payload with the digest of the accepted one, which is read before, is the accepted one, and so
// valid JSON.
struct Payload {
    template <class Parts>
    static std::string_view write(const Parts& parts) {
        return part<JobSpec>(parts).payload;
    }
    template <class Row, class Parts>
    static void read(Row& row, const Parts& parts, std::string_view name) {
        JobSpec& spec = part<JobSpec>(parts);
        spec.payload = row.text();
        if (sha256(spec.payload) == spec.payload_digest) return;
        row.note_damage(name);
        spec.payload = "null";
    }
};

// NULL: the first form, which the jobs of older versions have.
struct HistoryForm {
    template <class Parts>
    static std::optional<int> write(const Parts& parts) {
        const int form = part<JobSpec>(parts).history_form;
        return form == 1 ? std::nullopt : std::optional(form);
    }
    template <class Row, class Parts>
    static void read(Row& row, const Parts& parts, std::string_view name) {
        const std::int64_t form = row.maybe_integer().value_or(1);
        if (form < 1 || form > newest_history_form) row.note_damage(name);
        part<JobSpec>(parts).history_form = static_cast<int>(form);
    }
};

// The entity by which gates find a success. NULL: none, or no success.
struct SuccessFor {
    template <class Parts>
    static bool is_given(const Parts& parts) {
        return part<Standing>(parts).state == JobState::succeeded &&
               !part<JobSpec>(parts).entity_id.empty();
    }
    template <class Parts>
    static std::optional<MadeText> write(const Parts& parts) {
        if (!is_given(parts)) return std::nullopt;
        const JobSpec& spec = part<JobSpec>(parts);
        return MadeText{success_for(spec.tenant, spec.entity_type, spec.entity_id)};
    }
};

// The type of a job that lists find by its project, or gates by its entity; NULL for others.
struct TypeOfFound {
    template <class Parts>
    static std::optional<std::string_view> write(const Parts& parts) {
        const JobSpec& spec = part<JobSpec>(parts);
        const bool is_found = !spec.project.empty() || SuccessFor::is_given(parts);
        return is_found ? given(spec.type) : std::nullopt;
    }
};

// ── tables ──
// clang-format off

// The columns that the queue needs of a waiting job; the spec's columns begin with these.
inline constexpr auto queue_columns = std::tuple(
    integer<&JobSpec::id>("id"),
    text<&JobSpec::tenant>("tenant"),
    text<&JobSpec::queue>("queue"),
    text<&JobSpec::type>("type"),
    small<&JobSpec::priority>("priority"),
    integer<&JobSpec::created_at>("created_at"),
    column<AskedRunAfter>("run_after", ColumnType::integer),
    column<NullIfEmpty<Texts<&JobSpec::labels>>>("labels", ColumnType::text),
    given_text<&JobSpec::site_id>("site_id"),
    given_text<&JobSpec::node_id>("node_id"),
    column<NullIfEmpty<Texts<&JobSpec::exclusive_keys>>>("exclusive_keys", ColumnType::text));

// Parts: JobSpec, and Standing for the hash of its first event. Each store keeps the dependencies
// in its own way.
inline constexpr auto job_table = table("job", std::tuple_cat(queue_columns, std::tuple(
    small<&JobSpec::max_attempts>("max_attempts"),
    integer<&JobSpec::timeout>("timeout"),
    column<NullIfEmpty<BackoffCodec>>("backoff", ColumnType::text),
    flag<&JobSpec::retry_on_timeout>("retry_on_timeout"),
    column<RunDespiteFailure>("run_despite_failure", ColumnType::flag),
    given_text<&JobSpec::project>("project"),
    given_text<&JobSpec::entity_type>("entity_type"),
    given_text<&JobSpec::entity_id>("entity_id"),
    given_text<&JobSpec::source>("source"),
    given_text<&JobSpec::correlation_id>("correlation_id"),
    integer<&JobSpec::replay_of>("replay_of"),
    digest<&JobSpec::payload_digest>("payload_digest"),
    digest<&Standing::head, &ChainHead::hash>("head_hash"),
    column<Payload>("payload", ColumnType::text),
    given_text<&JobSpec::idempotency_key>("idempotency_key"),
    column<HistoryForm>("history_form", ColumnType::small))));

// A job's standing beside its spec; requeued, done and lease have these columns in common. Columns
// that change under a lease, and once more when it is closed after the job's end, are marked.
inline constexpr auto standing_columns = std::tuple(
    small<&Standing::attempt>("attempt"),
    column<MovedRunAfter>("run_after", ColumnType::integer),
    changing(small<&Standing::progress>("progress")),
    changing(given_text<&Standing::message>("message")),
    given_text<&Standing::error_code>("error_code"),
    given_text<&Standing::error_message>("error_message"),
    json<&Standing::result>("result"),
    changing(integer<&Standing::log_seq>("log_seq")),
    changing(digest<&Standing::log_hash>("log_hash")),
    changing(integer<&Standing::head, &ChainHead::seq>("event_seq")),
    changing(digest<&Standing::head, &ChainHead::hash>("head_hash")));

inline constexpr auto id_column = key(written_only(integer<&JobSpec::id>("id")));

// Parts of these three: JobSpec, Standing and, for a lease, Lease. Their readers know the id.
inline constexpr auto requeued_table = table("requeued", std::tuple_cat(std::tuple(
    id_column), standing_columns, std::tuple(
    integer<&Standing::started_at>("started_at"))));

inline constexpr auto done_table = table("done", std::tuple_cat(std::tuple(
    id_column,
    one_of<JobState::succeeded, JobState::timed_out, JobState::failed, &Standing::state>("state"),
    integer<&Standing::started_at>("started_at"),
    integer<&Standing::completed_at>("completed_at")), standing_columns, std::tuple(
    written_only(given_text<&JobSpec::project>("project")),
    written_only(column<TypeOfFound>("type", ColumnType::text)),
    written_only(column<SuccessFor>("success_for", ColumnType::text)))));

inline constexpr auto lease_table = table("lease", std::tuple_cat(std::tuple(
    id_column,
    key(integer<&Lease::token>("token")),
    text<&Lease::worker_id>("worker_id"),
    integer<&Lease::since>("since"),
    changing(integer<&Lease::until>("until")),
    changing(integer<&Lease::term>("term")),
    changing(flag<&Lease::stop_requested>("stop_requested")),
    changing(integer<&Lease::client_seq>("client_seq")),
    changing(integer<&Lease::batch_mark>("batch_mark"))), standing_columns));

inline constexpr auto event_table = table("event",
    key(integer<&Event::job>("job_id")),
    key(integer<&Event::seq>("seq")),
    one_of<Step::submitted, Step::lease_closed, Step::failed, &Event::step>("step"),
    one_of<JobState::queued, JobState::timed_out, JobState::failed, &Event::from>("from_state"),
    one_of<JobState::queued, JobState::timed_out, JobState::failed, &Event::to>("to_state"),
    small<&Event::attempt>("attempt"),
    integer<&Event::lease>("lease"),
    integer<&Event::at>("at"),
    integer<&Event::log_seq>("log_seq"),
    text<&Event::actor>("actor"),
    json<&Event::detail>("detail"),
    digest<&Event::hash>("hash"));

inline constexpr auto log_table = table("log",
    key(integer<&LogLine::job>("job_id")),
    key(integer<&LogLine::seq>("seq")),
    small<&LogLine::attempt>("attempt"),
    one_of<LogLevel::info, LogLevel::error, LogLevel::error, &LogLine::level>("level"),
    integer<&LogLine::at>("at"),
    integer<&LogLine::event_seq>("event_seq"),
    text<&LogLine::message>("message"),
    json<&LogLine::data>("data"));

// clang-format on
}  // namespace rows

// ── reading ──

// The next two read the columns of their tables into a job whose spec is known, and change nothing
// where there is no such row.
template <class Row>
void read_requeued(Row& row, Job& job) {
    rows::read_row_if_there(row, rows::requeued_table, std::tie(*job.spec, job.now));
}

template <class Row>
void read_done(Row& row, Job& job) {
    rows::read_row_if_there(row, rows::done_table, std::tie(*job.spec, job.now));
}

// The same with a lease; read last, since its columns depend on whether the job has ended.
template <class Row>
void read_lease(Row& row, Job& job) {
    Standing said;
    Lease lease;
    if (!rows::read_row_if_there(row, rows::lease_table, std::tie(*job.spec, said, lease))) return;

    if (is_final(job.now.state)) {
        job.now.apply_worker_update(said);
    } else {
        said.state = JobState::running;
        said.started_at = lease.since;
        job.now = std::move(said);
    }
    job.lease = std::move(lease);
}

template <class Row>
Event read_event(Row& row) {
    Event event;
    rows::read_row(row, rows::event_table, std::tie(event));
    event.damaged = !row.damage().empty();
    return event;
}

template <class Row>
LogLine read_line(Row& row) {
    LogLine line;
    rows::read_row(row, rows::log_table, std::tie(line));
    line.damaged = !row.damage().empty();
    return line;
}

}  // namespace sluice
