#include "application/finish_jobs.hpp"

#include <fmt/format.h>

#include <unordered_map>

#include "domain/check.hpp"

namespace sluice {
namespace {

std::vector<JobId> ids_of(std::span<const Job> jobs) {
    std::vector<JobId> ids;
    ids.reserve(jobs.size());
    for (const Job& job : jobs) ids.push_back(job.spec.id);
    return ids;
}

enum class Verdict { wait, run, cancel };

struct Ruling {
    Verdict verdict = Verdict::run;
    JobId because{};
    JobState state = JobState::queued;
};

// What the states of its dependencies mean for a job.
Ruling rule(JobStore& jobs, const JobSpec& spec) {
    Ruling ruling;
    const auto dependencies = jobs.find(spec.depends_on);
    for (const std::optional<Job>& dependency : dependencies) {
        check(dependency.has_value(), "a dependency exists");
        const JobState state = dependency->state;
        if (state == JobState::succeeded) continue;
        if (!is_final(state)) {
            ruling.verdict = Verdict::wait;
        } else if (spec.on_dependency_failure == OnDependencyFailure::cancel) {
            return {Verdict::cancel, dependency->spec.id, state};
        }
    }
    return ruling;
}

}  // namespace

void cancel_for_dependency(Transaction& tx, Job& job, JobId dependency, JobState state) {
    const JobState from = job.state;
    const auto moved = job.apply(Step::canceled);
    check(static_cast<bool>(moved), "a job that waits for a dependency can be canceled");
    job.completed_at = tx.now();
    job.error_code = dependency_failed_code;
    job.error_message = fmt::format("the job depends on {}, which ended as {}", to_text(dependency),
                                    to_text(state));
    tx.record(job, Step::canceled, from, engine_actor,
              fmt::format(R"({{"error_code":"{}","dependency":"{}"}})", dependency_failed_code,
                          to_text(dependency)));
}

void finish_jobs(Transaction& tx, std::span<const Job> ended) {
    for (std::vector<Job> next; !ended.empty(); ended = next) {
        tx.jobs().finish(ended);
        const std::vector<JobId> waiting = tx.jobs().dependents(ids_of(ended));
        std::vector<Job> canceled;
        std::vector<Job> runnable;
        for (std::optional<Job>& job : tx.jobs().find(waiting)) {
            check(job && job->state == JobState::queued, "only queued jobs wait for others");
            const Ruling ruling = rule(tx.jobs(), job->spec);
            if (ruling.verdict == Verdict::cancel) {
                cancel_for_dependency(tx, *job, ruling.because, ruling.state);
                canceled.push_back(*std::move(job));
            } else if (ruling.verdict == Verdict::run) {
                runnable.push_back(*std::move(job));
            }
        }
        if (!runnable.empty()) tx.jobs().unblock(runnable);
        next = std::move(canceled);
    }
}

}  // namespace sluice
