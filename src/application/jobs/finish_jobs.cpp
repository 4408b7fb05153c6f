#include "application/jobs/finish_jobs.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <unordered_map>
#include <unordered_set>

#include "application/entities/follow_jobs.hpp"
#include "domain/values/check.hpp"

namespace sluice {
namespace {

std::vector<JobId> ids_of(std::span<const Job> jobs) {
    std::vector<JobId> ids;
    ids.reserve(jobs.size());
    for (const Job& job : jobs) ids.push_back(job.spec->id);
    return ids;
}

enum class Verdict { wait, run, cancel };

struct Ruling {
    Verdict verdict = Verdict::run;
    JobId because{};
    JobState state = JobState::queued;
};

// Decides about jobs that wait for others. Several jobs often wait for the same ones, so each state
// is read once.
class Judge {
  public:
    Judge(JobStore& jobs, std::span<const Job> ended) : jobs_(jobs) {
        for (const Job& job : ended) states_.emplace(job.spec->id, job.now.state);
    }

    // Reads the states of all jobs that these wait for, in one call of the store.
    void learn(std::span<const std::optional<Job>> waiting) {
        std::unordered_set<JobId> unknown;
        for (const std::optional<Job>& job : waiting) {
            if (!job) continue;
            for (const JobId id : job->spec->depends_on) {
                if (!states_.contains(id)) unknown.insert(id);
            }
        }
        if (unknown.empty()) return;
        const std::vector<JobId> ids(unknown.begin(), unknown.end());
        for (const std::optional<Job>& job : jobs_.find(ids)) {
            check(job.has_value(), "a dependency exists");
            states_.emplace(job->spec->id, job->now.state);
        }
    }

    // The verdict on a job, by the states of its dependencies.
    Ruling rule(const JobSpec& spec) {
        Ruling ruling;
        for (const JobId dependency : spec.depends_on) {
            const JobState state = states_.at(dependency);
            if (state == JobState::succeeded) continue;
            if (!is_final(state)) {
                ruling.verdict = Verdict::wait;
            } else if (spec.on_dependency_failure == OnDependencyFailure::cancel) {
                return {Verdict::cancel, dependency, state};
            }
        }
        return ruling;
    }

  private:
    JobStore& jobs_;
    std::unordered_map<JobId, JobState> states_;
};

// Unblocks those of these jobs that may run, and cancels those that must not; returns the canceled
// ones.
std::vector<Job> settle(Transaction& tx, std::span<const JobId> waiting, Judge& judge) {
    std::vector<Job> canceled;
    std::vector<Job> runnable;
    std::vector<std::optional<Job>> found = tx.jobs().find(waiting);
    judge.learn(found);
    for (std::optional<Job>& job : found) {
        check(job && job->now.state == JobState::queued, "only queued jobs wait for others");
        const Ruling ruling = judge.rule(job->spec);
        if (ruling.verdict == Verdict::cancel) {
            cancel_for_dependency(tx, *job, ruling.because, ruling.state);
            canceled.push_back(*std::move(job));
        } else if (ruling.verdict == Verdict::run) {
            runnable.push_back(*std::move(job));
        }
    }
    if (!runnable.empty()) tx.jobs().unblock(runnable);
    return canceled;
}

constexpr std::size_t page = 100;  // jobs with their payloads in memory at once

}  // namespace

void cancel_for_dependency(Transaction& tx, Job& job, JobId dependency, JobState state) {
    const JobState from = job.now.state;
    const auto moved = job.apply(Step::canceled);
    check(static_cast<bool>(moved), "a job that waits for a dependency can be canceled");
    job.now.completed_at = tx.now_after(job.spec->created_at);
    job.now.error_code = dependency_failed_code;
    job.now.error_message = fmt::format("the job depends on {}, which ended as {}",
                                        to_text(dependency), to_text(state));
    tx.record(job, Step::canceled, from, engine_actor,
              fmt::format(R"({{"error_code":"{}","dependency":"{}"}})", dependency_failed_code,
                          to_text(dependency)),
              job.spec->created_at);
}

void finish_jobs(Transaction& tx, std::span<const Job> ended) {
    if (ended.empty()) return;
    tx.jobs().finish(ended);
    follow_ends(tx, ended);
    const std::vector<JobId> waiting = tx.jobs().dependents(ids_of(ended));
    if (waiting.empty()) return;
    Judge judge(tx.jobs(), ended);
    for (std::size_t first = 0; first < waiting.size(); first += page) {
        const std::size_t count = std::min(page, waiting.size() - first);
        const auto some = std::span(waiting).subspan(first, count);
        finish_jobs(tx, settle(tx, some, judge));
    }
}

}  // namespace sluice
