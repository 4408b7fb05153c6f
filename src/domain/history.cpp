#include "domain/history.hpp"

#include <charconv>

namespace sluice {
namespace {

// A canonical form of fields: each as its length, a colon and its bytes, so that no two different
// lists of fields have the same form.
class Canonical {
  public:
    explicit Canonical(std::string_view title) {
        text_.reserve(256);
        add(title);
    }

    void add(std::string_view field) {
        append_number(static_cast<std::int64_t>(field.size()));
        text_ += ':';
        text_ += field;
    }
    void add(std::int64_t number) {
        append_number(number);
        text_ += ';';
    }
    void add_all(const std::vector<std::string>& fields) {
        add(static_cast<std::int64_t>(fields.size()));
        for (const std::string& field : fields) add(std::string_view(field));
    }

    std::string_view text() const { return text_; }

  private:
    void append_number(std::int64_t number) {
        char digits[24];
        const auto end = std::to_chars(digits, digits + sizeof digits, number).ptr;
        text_.append(digits, end);
    }

    std::string text_;
};

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

Digest genesis(const JobSpec& spec) {
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

Digest chain_hash(const Digest& previous, const Event& event, std::string_view result) {
    Canonical form("sluice event 1");
    for (const std::int64_t number :
         {event.job.value, event.seq, static_cast<std::int64_t>(event.step),
          number_or_none(event.from), number_or_none(event.to), std::int64_t{event.attempt},
          event.lease ? event.lease->value : 0, to_micros(event.at), event.log_seq}) {
        form.add(number);
    }
    form.add(std::string_view(event.actor));
    form.add(std::string_view(event.detail));
    if (event.to && is_final(*event.to)) form.add(result);
    return sha256(previous, form.text());
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
    event.hash =
        chain_hash(event.seq == 1 ? genesis(job.spec) : job.now.head.hash, event, job.now.result);
    job.now.head = {event.seq, event.hash};
    return event;
}

}  // namespace sluice
