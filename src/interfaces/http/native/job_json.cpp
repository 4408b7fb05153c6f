#include "interfaces/http/native/job_json.hpp"

#include "application/toolkit/make_job.hpp"

namespace sluice::http::native {
namespace {

void write_keys(JsonWriter& json, const std::vector<std::string>& keys) {
    json.key("exclusive_keys");
    json.begin_array();
    for (const std::string& key : keys) {
        if (!key.starts_with(own_key_prefix)) json.value(key);
    }
    json.end_array();
}

// In the form in which a submit takes it.
void write_backoff(JsonWriter& json, const Backoff& backoff) {
    json.key("backoff");
    switch (backoff.kind) {
        case Backoff::Kind::none: return json.value("none");
        case Backoff::Kind::list:
            json.begin_array();
            for (const Duration delay : backoff.delays) json.value(to_millis(delay));
            return json.end_array();
        case Backoff::Kind::exponential: break;
    }
    json.begin_object();
    json.field("kind", "exponential");
    json.field("base_ms", to_millis(backoff.base));
    json.field("cap_ms", to_millis(backoff.cap));
    json.end_object();
}

void write_spec(JsonWriter& json, const Job& job, const SecretMarks& secrets) {
    const JobSpec& spec = job.spec;
    json.field("id", spec.id);
    json.field("tenant", spec.tenant);
    json.text_or_null("project", spec.project);
    json.field("queue", spec.queue);
    json.field("type", spec.type);
    json.field("state", to_text(job.now.state));
    json.text_or_null("entity_type", spec.entity_type);
    json.text_or_null("entity_id", spec.entity_id);
    json.text_or_null("site_id", spec.site_id);
    json.text_or_null("node_id", spec.node_id);
    write_keys(json, spec.exclusive_keys);
    json.list("labels", spec.labels);
    json.list("depends_on", spec.depends_on);
    json.field("on_dependency_failure", to_text(spec.on_dependency_failure));
    json.field("priority", spec.priority);
    std::string buffer;
    const std::string_view shown = secrets.shown(spec, buffer);
    json.raw_field("payload", shown);
    // With the digest of the whole payload, a reader of the rest could guess the hidden part.
    const bool is_whole = shown.data() == (*spec.payload).data();
    json.field("payload_digest",
               is_whole ? std::optional(to_hex(spec.payload_digest)) : std::nullopt);
}

void write_lease(JsonWriter& json, const std::optional<Lease>& lease) {
    json.text_or_null("locked_by", lease ? lease->worker_id : std::string());
    json.field("locked_at", lease ? std::optional(lease->since) : std::nullopt);
    json.field("lease_until", lease ? std::optional(lease->until) : std::nullopt);
}

}  // namespace

void write_job(JsonWriter& json, const Job& job, const SecretMarks& secrets,
               std::optional<Timestamp> next_eligible_at) {
    json.begin_object();
    write_spec(json, job, secrets);
    json.raw_field("result", job.now.result.empty() ? "null" : job.now.result);
    json.text_or_null("error_code", job.now.error_code);
    json.text_or_null("error_message", job.now.error_message);
    json.field("attempt", job.now.attempt);
    json.field("max_attempts", job.spec->max_attempts);
    write_backoff(json, job.spec->backoff);
    json.field("timeout_ms", to_millis(job.spec->timeout));
    json.field("run_after", job.now.run_after);
    json.field("next_eligible_at", next_eligible_at);
    json.field("progress", job.now.progress);
    json.text_or_null("message", job.now.message);
    write_lease(json, job.lease);
    json.field("replay_of", job.spec->replay_of);
    json.text_or_null("source", job.spec->source);
    json.text_or_null("correlation_id", job.spec->correlation_id);
    json.field("created_at", job.spec->created_at);
    json.field("started_at", job.now.started_at);
    json.field("completed_at", job.now.completed_at);
    json.field("revision", job.now.head.seq);
    if (!job.damage.empty()) json.field("damaged", true);
    json.end_object();
}

// In whole milliseconds: a job that is answered from its history has no others.
std::optional<Timestamp> planned_start(const Job& job) {
    const auto floor = [](Timestamp time) {
        return std::chrono::floor<std::chrono::milliseconds>(time);
    };
    const bool waits =
        job.now.state == JobState::queued && floor(job.now.run_after) > floor(job.spec->created_at);
    return waits ? std::optional(job.now.run_after) : std::nullopt;
}

std::string job_text(const Job& job, const SecretMarks& secrets,
                     std::optional<Timestamp> next_eligible_at) {
    std::string out;
    out.reserve(1024 + job.spec->payload.size() + job.now.result.size());
    JsonWriter json(out);
    write_job(json, job, secrets, next_eligible_at);
    return out;
}

void write_event(JsonWriter& json, const Event& event) {
    const auto state = [](std::optional<JobState> value) {
        return value ? std::optional(to_text(*value)) : std::nullopt;
    };
    json.begin_object();
    json.field("seq", event.seq);
    json.field("type", to_text(event.step));
    json.field("from", state(event.from));
    json.field("to", state(event.to));
    json.field("attempt", event.attempt);
    json.field("lease_id",
               event.lease ? std::optional(LeaseId{event.job, *event.lease}) : std::nullopt);
    json.field("actor", event.actor);
    json.field("at", event.at);
    json.raw_field("detail", event.detail.empty() ? "null" : event.detail);
    json.field("hash", to_hex(event.hash));
    if (event.damaged) json.field("damaged", true);
    json.end_object();
}

std::string explanation_text(const Explanation& explanation) {
    return json_object_text([&](JsonWriter& json) {
        json.field("state", to_text(explanation.state));
        json.objects("reasons", explanation.reasons, [&](const Reason& reason) {
            json.field("code", reason.code);
            json.field("detail", reason.detail);
            json.key("blocker");
            if (reason.blocker.empty()) {
                json.value(nullptr);
            } else {
                json.begin_object();
                json.field("kind", reason.blocker_kind);
                json.field("id", reason.blocker);
                json.end_object();
            }
            json.field("until", reason.until);
        });
    });
}

}  // namespace sluice::http::native
