#include "interfaces/http/api_jobs/job_json.hpp"

#include "interfaces/http/api_jobs/words.hpp"

namespace sluice::http::api_jobs {
namespace {

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
    json.text_or_null("code", job.now.error_code);
    json.text_or_null("message", job.now.error_message);
    json.end_object();
}

void write_reason(JsonWriter& json, const Job& job) {
    const bool canceled = job.now.state == JobState::canceled;
    json.text_or_null("reason", canceled ? job.now.error_message : "");
}

void write_output(JsonWriter& json, const Job& job) {
    const bool has_output = job.now.state == JobState::succeeded && !job.now.result.empty();
    json.raw_field("output", has_output ? job.now.result : "null");
}

void write_spec(JsonWriter& json, const JobSpec& spec, const SecretMarks& secrets) {
    json.field("tenant", spec.tenant);
    json.text_or_null("project", spec.project);
    json.field("priority", spec.priority);
    json.text_or_null("correlationId", spec.correlation_id);
    json.text_or_null("idempotencyKey", spec.idempotency_key);
    json.field("replayOf", spec.replay_of);
    json.list("labels", spec.labels);
    json.field("maxAttempts", spec.max_attempts);
    json.field("timeoutMs", to_millis(spec.timeout));
    std::string buffer;
    const std::string_view shown = secrets.shown(spec, buffer);
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
    json.text_or_null("worker", job.lease ? job.lease->worker_id : "");
    json.field("leaseUntil", job.lease ? std::optional(job.lease->until) : std::nullopt);
    json.field("progress", job.now.progress);
    json.text_or_null("message", job.now.message);
    json.field("createdAt", job.spec->created_at);
    json.field("startedAt", job.now.started_at);
    json.field("completedAt", job.now.completed_at);
}

void write_attempts(JsonWriter& json, std::span<const Attempt> attempts) {
    json.objects("attempts", attempts, [&](const Attempt& attempt) {
        json.field("attempt", attempt.number);
        json.field("workerId", attempt.worker_id);
        json.field("startedAt", attempt.started_at);
        json.field("endedAt", attempt.ended_at);
        json.field("outcome",
                   attempt.outcome ? std::optional(to_text(*attempt.outcome)) : std::nullopt);
    });
}

void write_leases(JsonWriter& json, std::span<const Attempt> attempts) {
    json.objects("leaseHistory", attempts, [&](const Attempt& attempt) {
        json.field("leaseId", attempt.lease);
        json.field("workerId", attempt.worker_id);
        json.field("acquiredAt", attempt.started_at);
        json.field("releasedAt", attempt.released_at);
    });
}

// The time that it waited for its first attempt, and the time that its ended attempts took. Null as
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
    json.object("metrics", [&] {
        json.field("queuedMs", queued);
        json.field("runMs", ran);
    });
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
    return json_object_text([&](JsonWriter& json) {
        write_members(json, job, secrets);
        write_attempts(json, attempts);
        write_leases(json, attempts);
        write_metrics(json, job, attempts);
    });
}

std::string ending_text(const Job& job) {
    return json_object_text([&](JsonWriter& json) {
        json.field("state", word_for(job.now.state, Vocabulary::state));
        write_output(json, job);
        if (has_error(job)) write_error(json, job);
        if (job.now.state == JobState::canceled) write_reason(json, job);
    });
}

}  // namespace sluice::http::api_jobs
