#include "application/toolkit/make_job.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace sluice {
namespace {

std::optional<Error> check_names(const NewJob& job) {
    if (job.type.empty()) return refuse("type", "is required: say what kind of job this is");
    if (auto refusal = check_tenant("tenant", job.tenant)) return refusal;
    if (job.queue && job.queue->empty()) return refuse("queue", "must not be empty");
    const std::pair<const char*, const std::string*> names[] = {
        {"type", &job.type},
        {"project", &job.project},
        {"entity_type", &job.entity_type},
        {"entity_id", &job.entity_id},
        {"source", &job.source},
        {"correlation_id", &job.correlation_id},
    };
    for (const auto& [field, name] : names) {
        if (auto refusal = check_name(field, *name)) return refusal;
    }
    if (auto refusal = check_path_id("site_id", job.site_id)) return refusal;
    if (auto refusal = check_path_id("node_id", job.node_id)) return refusal;
    return job.queue ? check_name("queue", *job.queue) : std::nullopt;
}

std::optional<Error> check_backoff(const Backoff& backoff) {
    if (backoff.delays.size() > limits::list_items) {
        return refuse("backoff", fmt::format("has more than {} delays", limits::list_items),
                      ErrorCode::too_large);
    }
    const auto is_out = [](Duration delay) { return delay < Duration{0} || delay > limits::delay; };
    if (std::any_of(backoff.delays.begin(), backoff.delays.end(), is_out) || is_out(backoff.base) ||
        is_out(backoff.cap)) {
        return refuse("backoff", "has a delay that is negative or longer than ten years");
    }
    if (backoff.kind == Backoff::Kind::list && backoff.delays.empty()) {
        return refuse("backoff", "needs at least one delay; \"none\" retries at once");
    }
    if (backoff.cap < backoff.base) {
        return refuse("backoff/cap_ms",
                      fmt::format("must be at least base_ms ({})", to_millis(backoff.base)));
    }
    return std::nullopt;
}

std::optional<Error> check_numbers(const NewJob& job, Timestamp now) {
    if (job.priority && (*job.priority < -limits::priority || *job.priority > limits::priority)) {
        return refuse("priority", fmt::format("must be between -{0} and {0}", limits::priority));
    }
    if (job.max_attempts && (*job.max_attempts < 1 || *job.max_attempts > limits::attempts)) {
        return refuse("max_attempts", fmt::format("must be between 1 and {}", limits::attempts));
    }
    if (job.timeout && (*job.timeout < Duration{0} || *job.timeout > limits::timeout)) {
        return refuse("timeout_ms", fmt::format("must be between 0 (no deadline) and {}",
                                                to_millis(limits::timeout)));
    }
    if (job.delay && job.run_after)
        return refuse("delay_ms", "cannot be given together with run_after");
    if (job.delay && (*job.delay < Duration{0} || *job.delay > limits::delay)) {
        return refuse("delay_ms",
                      fmt::format("must be between 0 and {}", to_millis(limits::delay)));
    }
    if (job.run_after && *job.run_after > now + limits::delay) {
        return refuse("run_after", "must not be more than ten years ahead");
    }
    return job.backoff ? check_backoff(*job.backoff) : std::nullopt;
}

std::optional<Error> check_lists(NewJob& job) {
    if (auto refusal = check_list("exclusive_keys", job.exclusive_keys)) return refusal;
    for (const std::string& key : job.exclusive_keys) {
        if (!key.starts_with(own_key_prefix)) continue;
        return refuse("exclusive_keys", "must not begin with @entity:, which is the engine's own");
    }
    if (auto refusal = check_list("labels", job.labels)) return refusal;
    if (job.depends_on.size() > limits::dependencies) {
        return refuse("depends_on", fmt::format("has more than {} entries", limits::dependencies),
                      ErrorCode::too_large);
    }
    std::sort(job.depends_on.begin(), job.depends_on.end());
    job.depends_on.erase(std::unique(job.depends_on.begin(), job.depends_on.end()),
                         job.depends_on.end());
    return std::nullopt;
}

std::optional<Error> check_site_and_node(const NewJob& job, const JobType& type) {
    if (type.needs_node && job.node_id.empty()) {
        return refuse("node_id",
                      fmt::format("is required: jobs of type \"{}\" touch a node", job.type));
    }
    if (type.needs_site && job.site_id.empty()) {
        return refuse("site_id",
                      fmt::format("is required: jobs of type \"{}\" are about a site", job.type));
    }
    if (type.refuses_site && !job.site_id.empty()) {
        return refuse("site_id",
                      fmt::format("must not be given: jobs of type \"{}\" have no site", job.type));
    }
    return std::nullopt;
}

}  // namespace

Result<JobSpec> make_job(NewJob job, const JobTypes& types, Timestamp now) {
    if (auto refusal = check_names(job)) return *std::move(refusal);
    if (auto refusal = check_numbers(job, now)) return *std::move(refusal);
    if (auto refusal = check_lists(job)) return *std::move(refusal);
    if (job.payload.size() > limits::payload_bytes) {
        return refuse("payload",
                      fmt::format("is {} bytes long; at most {} are allowed", job.payload.size(),
                                  limits::payload_bytes),
                      ErrorCode::too_large);
    }
    const JobType* type = types.find(job.type);
    if (!type) {
        return refuse("type",
                      fmt::format("\"{}\" is not a known job type, and this engine accepts only "
                                  "known ones (strict_types)",
                                  job.type));
    }
    if (auto refusal = check_site_and_node(job, *type)) return *std::move(refusal);

    JobSpec spec;
    spec.tenant = std::move(job.tenant);
    spec.project = std::move(job.project);
    spec.queue = job.queue ? *std::move(job.queue) : type->queue;
    spec.type = std::move(job.type);
    spec.priority = job.priority.value_or(type->priority);
    spec.run_after = job.delay ? now + *job.delay : job.run_after.value_or(Timestamp::min());
    spec.timeout = job.timeout.value_or(type->timeout);
    spec.max_attempts = job.max_attempts.value_or(type->max_attempts);
    spec.backoff = job.backoff ? *std::move(job.backoff) : type->backoff;
    spec.retry_on_timeout = type->retry_on_timeout;
    spec.entity_type = std::move(job.entity_type);
    spec.entity_id = std::move(job.entity_id);
    spec.site_id = std::move(job.site_id);
    spec.node_id = std::move(job.node_id);
    spec.exclusive_keys = std::move(job.exclusive_keys);
    spec.labels = std::move(job.labels);
    spec.depends_on = std::move(job.depends_on);
    spec.on_dependency_failure = job.on_dependency_failure;
    spec.source = std::move(job.source);
    spec.correlation_id = std::move(job.correlation_id);
    spec.payload = std::move(job.payload);
    spec.payload_digest = sha256(spec.payload);
    return spec;
}

}  // namespace sluice
