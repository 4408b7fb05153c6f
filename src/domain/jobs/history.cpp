#include "domain/jobs/history.hpp"

#include "domain/values/canonical.hpp"

namespace sluice {
namespace {

void add_backoff(Canonical& form, const Backoff& backoff) {
    form.add(static_cast<std::int64_t>(backoff.kind));
    form.add(static_cast<std::int64_t>(backoff.delays.size()));
    for (const Duration delay : backoff.delays) form.add(delay.count());
    form.add(backoff.base.count());
    form.add(backoff.cap.count());
}

std::int64_t number_or_none(std::optional<JobState> state) {
    return state ? static_cast<std::int64_t>(*state) : -1;
}

}  // namespace

std::string_view to_text(LogLevel level) {
    switch (level) {
        case LogLevel::info: return "info";
        case LogLevel::warn: return "warn";
        case LogLevel::error: return "error";
    }
    return "";
}

std::optional<LogLevel> parse_log_level(std::string_view text) {
    for (const LogLevel level : {LogLevel::info, LogLevel::warn, LogLevel::error}) {
        if (to_text(level) == text) return level;
    }
    return std::nullopt;
}

namespace {

Digest genesis_in_form_1(const JobSpec& spec) {
    Canonical form("sluice job 1");
    form.add(spec.id.value);
    for (const std::string* field :
         {&spec.tenant, &spec.project, &spec.queue, &spec.type, &spec.entity_type, &spec.entity_id,
          &spec.site_id, &spec.node_id, &spec.source, &spec.correlation_id}) {
        form.add(std::string_view(*field));
    }
    for (const std::int64_t number :
         {std::int64_t{spec.priority}, to_micros(spec.created_at), to_micros(spec.run_after),
          std::int64_t{spec.timeout.count()}, std::int64_t{spec.max_attempts},
          std::int64_t{spec.retry_on_timeout},
          static_cast<std::int64_t>(spec.on_dependency_failure),
          spec.replay_of ? spec.replay_of->value : 0}) {
        form.add(number);
    }
    add_backoff(form, spec.backoff);
    form.add_all(spec.exclusive_keys);
    form.add_all(spec.labels);
    for (const JobId dependency : spec.depends_on) form.add(dependency.value);
    form.add(bytes_of(spec.payload_digest));
    // Jobs without a key have the form that all had before keys were kept.
    if (!spec.idempotency_key.empty()) form.add(std::string_view(spec.idempotency_key));
    return sha256(form.text());
}

// Fields that every job has come first; optional fields are added with their names, so that a field
// of a later version is covered where it is given, and changes nothing where it is not.
Digest genesis_in_form_2(const JobSpec& spec) {
    Canonical form("sluice job 2");
    for (const std::int64_t number :
         {spec.id.value, std::int64_t{spec.priority}, to_micros(spec.created_at),
          to_micros(spec.run_after), std::int64_t{spec.timeout.count()},
          std::int64_t{spec.max_attempts}}) {
        form.add(number);
    }
    for (const std::string* field : {&spec.tenant, &spec.queue, &spec.type}) {
        form.add(std::string_view(*field));
    }
    form.add(bytes_of(spec.payload_digest));
    form.add_given("project", spec.project);
    form.add_given("entity_type", spec.entity_type);
    form.add_given("entity_id", spec.entity_id);
    form.add_given("site_id", spec.site_id);
    form.add_given("node_id", spec.node_id);
    form.add_given("source", spec.source);
    form.add_given("correlation_id", spec.correlation_id);
    form.add_given("idempotency_key", spec.idempotency_key);
    if (spec.retry_on_timeout) form.add_named("retry_on_timeout", 1);
    if (spec.on_dependency_failure != OnDependencyFailure::cancel) {
        form.add_named("on_dependency_failure",
                       static_cast<std::int64_t>(spec.on_dependency_failure));
    }
    if (spec.replay_of) form.add_named("replay_of", spec.replay_of->value);
    if (spec.backoff != Backoff{}) {
        form.add("backoff");
        add_backoff(form, spec.backoff);
    }
    if (!spec.exclusive_keys.empty()) {
        form.add("exclusive_keys");
        form.add_all(spec.exclusive_keys);
    }
    if (!spec.labels.empty()) {
        form.add("labels");
        form.add_all(spec.labels);
    }
    if (!spec.depends_on.empty()) {
        form.add_named("depends_on", static_cast<std::int64_t>(spec.depends_on.size()));
        for (const JobId dependency : spec.depends_on) form.add(dependency.value);
    }
    return sha256(form.text());
}

}  // namespace

Digest genesis(const JobSpec& spec) {
    switch (spec.history_form) {
        case 1: return genesis_in_form_1(spec);
        case 2: return genesis_in_form_2(spec);
        default: return {};
    }
}

Digest chain_hash(const Digest& previous, const Event& event, const EventCover& cover) {
    Canonical form("sluice event 1");
    for (const std::int64_t number :
         {event.job.value, event.seq, static_cast<std::int64_t>(event.step),
          number_or_none(event.from), number_or_none(event.to), std::int64_t{event.attempt},
          event.lease ? event.lease->value : 0, to_micros(event.at), event.log_seq}) {
        form.add(number);
    }
    form.add(std::string_view(event.actor));
    form.add(std::string_view(event.detail));
    if (event.to && is_final(*event.to)) form.add(cover.result);
    if (cover.log && event.log_seq > 0) form.add(bytes_of(*cover.log));
    return sha256(previous, form.text());
}

Digest log_hash(const Digest& previous, const LogLine& line) {
    Canonical form("sluice log line 1");
    for (const std::int64_t number :
         {line.seq, std::int64_t{line.attempt}, static_cast<std::int64_t>(line.level),
          to_micros(line.at), line.event_seq}) {
        form.add(number);
    }
    form.add(std::string_view(line.message));
    form.add(std::string_view(line.data));
    return sha256(previous, form.text());
}

EventCover cover_of(const JobSpec& spec, std::string_view result,
                    const std::optional<Digest>& log) {
    return {.result = result, .log = spec.history_form > 1 && log ? &*log : nullptr};
}

Event record(Job& job, EventParts parts) {
    const bool changes_state = parts.step == Step::submitted || parts.from.has_value();
    Event event{.job = job.spec->id,
                .seq = job.now.head.seq + 1,
                .step = parts.step,
                .from = parts.from,
                .to = changes_state ? std::optional(job.now.state) : std::nullopt,
                .attempt = job.now.attempt,
                .lease = parts.lease,
                .actor = std::move(parts.actor),
                .at = parts.at,
                .log_seq = job.now.log_seq,
                .detail = std::move(parts.detail),
                .hash = {}};
    event.hash = chain_hash(event.seq == 1 ? genesis(job.spec) : job.now.head.hash, event,
                            cover_of(job.spec, job.now.result, job.now.log_hash));
    job.now.head = {event.seq, event.hash};
    return event;
}

LogLine next_line(Job& job, LineParts parts) {
    LogLine line{.job = job.spec->id,
                 .seq = ++job.now.log_seq,
                 .attempt = job.now.attempt,
                 .level = parts.level,
                 .message = std::move(parts.message),
                 .data = std::move(parts.data),
                 .at = parts.at,
                 .event_seq = job.now.head.seq};
    job.now.log_hash = log_hash(job.now.log_hash.value_or(Digest{}), line);
    return line;
}

}  // namespace sluice
