#include "interfaces/http/jobs/job_json.hpp"

#include "interfaces/http/jobs/words.hpp"

namespace sluice::http::jobs {
namespace {

std::optional<std::string_view> text_or_none(const std::string& text) {
    return text.empty() ? std::nullopt : std::optional<std::string_view>(text);
}

bool has_error(const Job& job) {
    switch (job.now.state) {
        case JobState::failed:
        case JobState::timed_out: return true;
        case JobState::succeeded:
        case JobState::canceled: return false;
        case JobState::queued:  // that of the attempt before, while another one is to come
        case JobState::running: break;
    }
    return !job.now.error_code.empty() || !job.now.error_message.empty();
}

void write_error(JsonWriter& json, const Job& job) {
    json.key("error");
    if (!has_error(job)) return json.value(nullptr);
    json.begin_object();
    json.field("code", text_or_none(job.now.error_code));
    json.field("message", text_or_none(job.now.error_message));
    json.end_object();
}

void write_reason(JsonWriter& json, const Job& job) {
    const bool canceled = job.now.state == JobState::canceled;
    json.field("reason", canceled ? text_or_none(job.now.error_message) : std::nullopt);
}

void write_output(JsonWriter& json, const Job& job) {
    const bool has_output = job.now.state == JobState::succeeded && !job.now.result.empty();
    json.raw_field("output", has_output ? job.now.result : "null");
}

void write_spec(JsonWriter& json, const JobSpec& spec, const SecretMarks& secrets) {
    json.field("tenant", spec.tenant);
    json.field("project", text_or_none(spec.project));
    json.field("priority", spec.priority);
    json.field("correlationId", text_or_none(spec.correlation_id));
    json.field("idempotencyKey", text_or_none(spec.idempotency_key));
    json.field("replayOf", spec.replay_of);
    json.key("labels");
    json.begin_array();
    for (const std::string& label : spec.labels) json.value(label);
    json.end_array();
    json.field("maxAttempts", spec.max_attempts);
    json.field("timeoutMs", to_millis(spec.timeout));
    std::string room;
    const std::string_view shown = secrets.shown(spec, room);
    json.raw_field("input", shown);
    const bool is_whole = shown.data() == (*spec.payload).data();
    json.field("payloadDigest",
               is_whole ? std::optional(to_hex(spec.payload_digest)) : std::nullopt);
}

void write_members(JsonWriter& json, const Job& job, const SecretMarks& secrets) {
    json.field("id", job.spec->id);
    json.field("action", job.spec->type);
    json.field("jobType", job.spec->type);
    json.field("state", word_for(job.now.state, Vocabulary::state));
    json.field("status", word_for(job.now.state, Vocabulary::status));
    write_spec(json, job.spec, secrets);
    write_output(json, job);
    write_error(json, job);
    write_reason(json, job);
    json.field("attempt", job.now.attempt);
    json.field("runAfter", job.now.run_after);
    json.field("worker", job.lease ? text_or_none(job.lease->worker_id) : std::nullopt);
    json.field("leaseUntil", job.lease ? std::optional(job.lease->until) : std::nullopt);
    json.field("progress", job.now.progress);
    json.field("message", text_or_none(job.now.message));
    json.field("createdAt", job.spec->created_at);
    json.field("startedAt", job.now.started_at);
    json.field("completedAt", job.now.completed_at);
}

void write_attempts(JsonWriter& json, std::span<const Attempt> attempts) {
    json.key("attempts");
    json.begin_array();
    for (const Attempt& attempt : attempts) {
        json.begin_object();
        json.field("attempt", attempt.number);
        json.field("workerId", attempt.worker_id);
        json.field("startedAt", attempt.started_at);
        json.field("endedAt", attempt.ended_at);
        json.field("outcome",
                   attempt.outcome ? std::optional(to_text(*attempt.outcome)) : std::nullopt);
        json.end_object();
    }
    json.end_array();
}

void write_leases(JsonWriter& json, std::span<const Attempt> attempts) {
    json.key("leaseHistory");
    json.begin_array();
    for (const Attempt& attempt : attempts) {
        json.begin_object();
        json.field("leaseId", attempt.lease);
        json.field("workerId", attempt.worker_id);
        json.field("acquiredAt", attempt.started_at);
        json.field("releasedAt", attempt.released_at);
        json.end_object();
    }
    json.end_array();
}

// How long it waited for its first attempt, and how long those attempts that are over took. Null as
// long as there is nothing to measure.
void write_metrics(JsonWriter& json, const Job& job, std::span<const Attempt> attempts) {
    std::optional<std::int64_t> queued;
    if (!attempts.empty()) {
        queued = to_millis(attempts.front().started_at - job.spec->created_at);
    } else if (job.now.completed_at) {
        queued = to_millis(*job.now.completed_at - job.spec->created_at);
    }
    std::optional<std::int64_t> ran;
    for (const Attempt& attempt : attempts) {
        if (!attempt.ended_at) continue;
        ran = ran.value_or(0) + to_millis(*attempt.ended_at - attempt.started_at);
    }
    json.key("metrics");
    json.begin_object();
    json.field("queuedMs", queued);
    json.field("runMs", ran);
    json.end_object();
}

}  // namespace

void write_job(JsonWriter& json, const Job& job, const SecretMarks& secrets) {
    json.begin_object();
    write_members(json, job, secrets);
    json.end_object();
}

std::string job_text(const Job& job, const SecretMarks& secrets) {
    std::string out;
    out.reserve(1024 + job.spec->payload.size() + job.now.result.size());
    JsonWriter json(out);
    write_job(json, job, secrets);
    return out;
}

std::string job_detail_text(const Job& job, std::span<const Attempt> attempts,
                            const SecretMarks& secrets) {
    std::string out;
    JsonWriter json(out);
    json.begin_object();
    write_members(json, job, secrets);
    write_attempts(json, attempts);
    write_leases(json, attempts);
    write_metrics(json, job, attempts);
    json.end_object();
    return out;
}

std::string ending_text(const Job& job) {
    std::string out;
    JsonWriter json(out);
    json.begin_object();
    json.field("state", word_for(job.now.state, Vocabulary::state));
    write_output(json, job);
    if (has_error(job)) write_error(json, job);
    if (job.now.state == JobState::canceled) write_reason(json, job);
    json.end_object();
    return out;
}

}  // namespace sluice::http::jobs
