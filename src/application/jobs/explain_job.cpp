#include "application/jobs/explain_job.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "application/limits/limits_now.hpp"
#include "application/toolkit/names.hpp"

namespace sluice {
namespace {

void explain_time(const Job& job, Timestamp now, std::vector<Reason>& reasons) {
    // A job without a delay is due at once, also when the clock was set back since.
    const bool at_once =
        job.now.run_after == job.spec->run_after && job.now.run_after <= job.spec->created_at;
    if (at_once || job.now.run_after <= now) return;
    const std::string when = to_rfc3339(job.now.run_after);
    if (job.now.attempt > 0) {
        reasons.push_back(
            {"retry_backoff",
             fmt::format("attempt {} of {} ended with {}; the next one may start at {}",
                         job.now.attempt, job.spec->max_attempts,
                         job.now.error_code.empty() ? "an error" : job.now.error_code, when),
             "", "", job.now.run_after});
    } else {
        reasons.push_back({"not_due", fmt::format("it was asked to run no earlier than {}", when),
                           "", "", job.now.run_after});
    }
}

void explain_dependencies(JobStore& jobs, const JobSpec& spec, std::vector<Reason>& reasons) {
    for (const std::optional<Job>& dependency : jobs.find(spec.depends_on)) {
        if (!dependency || is_final(dependency->now.state)) continue;
        const std::string id = to_text(dependency->spec->id);
        reasons.push_back({"dependency",
                           fmt::format("it depends on job {} ({}), which is {}", id,
                                       dependency->spec->type, to_text(dependency->now.state)),
                           "job", id, std::nullopt});
    }
}

void explain_keys(Transaction& tx, const JobSpec& spec, std::vector<Reason>& reasons) {
    const std::vector<std::string> keys = held_keys(spec);
    const auto holders = tx.leases().holders(spec.tenant, keys);
    for (std::size_t i = 0; i < keys.size(); ++i) {
        if (!holders[i]) continue;
        const std::optional<Job> holder = tx.jobs().find_one(*holders[i]);
        if (!holder || !holder->lease) continue;
        const std::string id = to_text(holder->spec->id);
        std::string detail =
            is_final(holder->now.state)
                ? fmt::format(
                      "{} is held by job {}, which was {}, until its worker {} stops or its lease "
                      "ends",
                      keys[i], id, to_text(holder->now.state), holder->lease->worker_id)
                : fmt::format("{} is held by job {} ({}) on worker {}", keys[i], id,
                              holder->spec->type, holder->lease->worker_id);
        reasons.push_back({"exclusive_key", std::move(detail), "job", id, holder->lease->until});
    }
}

void explain_limits(Transaction& tx, const JobSpec& spec, Viewer viewer,
                    std::vector<Reason>& reasons) {
    for (const ClosedPermit& closed : permits_missing(tx.limits(), lane_of(spec), tx.now())) {
        reasons.push_back({std::string(code_of(closed)), text_of(closed, viewer), "limit",
                           closed.rule->id, closed.room.not_before});
    }
}

std::string lane_text(const JobSpec& spec) {
    std::string text = fmt::format("queue {}, type {}", spec.queue, spec.type);
    if (!spec.labels.empty()) text += fmt::format(", labels {}", fmt::join(spec.labels, ","));
    return text;
}

void explain_workers(const Workers& workers, const JobSpec& spec, Timestamp now,
                     std::vector<Reason>& reasons) {
    const auto matching = workers.matching(lane_of(spec), now);
    const auto minutes = std::chrono::duration_cast<std::chrono::minutes>(Workers::memory).count();
    if (matching.empty()) {
        reasons.push_back(
            {"no_worker",
             fmt::format("no worker asked for {} in the last {} minutes", lane_text(spec), minutes),
             "", "", std::nullopt});
    } else if (std::none_of(matching.begin(), matching.end(),
                            [](const auto& w) { return w.waiting; })) {
        const auto last =
            std::max_element(matching.begin(), matching.end(),
                             [](const auto& a, const auto& b) { return a.at < b.at; });
        const auto ago = std::chrono::duration_cast<std::chrono::seconds>(now - last->at).count();
        reasons.push_back(
            {"workers_busy",
             fmt::format("no worker asks for {} now; {} did in the last {} minutes, "
                         "{} {} s ago: busy, or gone",
                         lane_text(spec), matching.size(), minutes, last->worker_id, ago),
             "worker", last->worker_id, std::nullopt});
    }
}

void explain_running(const Job& job, std::vector<Reason>& reasons) {
    reasons.push_back(
        {"running",
         fmt::format("attempt {} of {} runs on worker {} since {}", job.now.attempt,
                     job.spec->max_attempts, job.lease->worker_id, to_rfc3339(*job.now.started_at)),
         "worker", job.lease->worker_id, job.lease->until});
    if (job.lease->stop_requested) {
        reasons.push_back({"stopping", "its deadline has come; the worker was asked to stop",
                           "worker", job.lease->worker_id, job.lease->until});
    }
}

void explain_end(const Job& job, std::vector<Reason>& reasons) {
    std::string detail =
        fmt::format("it {} at {} in attempt {} of {}",
                    job.now.state == JobState::canceled    ? "was canceled"
                    : job.now.state == JobState::timed_out ? "timed out"
                                                           : to_text(job.now.state),
                    to_rfc3339(*job.now.completed_at), job.now.attempt, job.spec->max_attempts);
    if (!job.now.error_code.empty()) detail += fmt::format(" with {}", job.now.error_code);
    if (!job.now.error_message.empty()) detail += fmt::format(": {}", job.now.error_message);
    reasons.push_back(
        {std::string(to_text(job.now.state)), std::move(detail), "", "", std::nullopt});
    if (job.lease) {
        reasons.push_back(
            {"worker_stopping",
             fmt::format("worker {} has not said yet that it stopped", job.lease->worker_id),
             "worker", job.lease->worker_id, job.lease->until});
    }
}

}  // namespace

Result<Explanation> explain_job(Transaction& tx, const Workers& workers, StoreSpace space,
                                const ExplainJob& command) {
    const std::optional<Job> job = tx.jobs().find_one(command.job);
    if (!job || (!command.tenant.empty() && job->spec->tenant != command.tenant)) {
        return no_such_job(command.job);
    }
    Explanation explanation{job->now.state, {}};
    std::vector<Reason>& reasons = explanation.reasons;
    if (space != StoreSpace::ample && !is_final(job->now.state)) {
        reasons.push_back({"store_full", store_full_error().message, "", "", std::nullopt});
    }
    if (job->now.state == JobState::running) {
        explain_running(*job, reasons);
    } else if (is_final(job->now.state)) {
        explain_end(*job, reasons);
    } else {
        explain_time(*job, tx.now(), reasons);
        explain_dependencies(tx.jobs(), job->spec, reasons);
        explain_limits(tx, job->spec, command.viewer, reasons);
        explain_keys(tx, job->spec, reasons);
        explain_workers(workers, job->spec, tx.now(), reasons);
        if (reasons.empty()) {
            reasons.push_back({"ready", "nothing keeps it from running; a worker takes it next", "",
                               "", std::nullopt});
        }
    }
    return explanation;
}

}  // namespace sluice
