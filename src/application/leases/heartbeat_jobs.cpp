#include "application/leases/heartbeat_jobs.hpp"

#include "application/toolkit/leased_jobs.hpp"
#include "application/toolkit/phase.hpp"
#include "application/toolkit/redact.hpp"
#include "application/toolkit/waves.hpp"

namespace sluice {
namespace {

// A last term is not extended. The lease is lost when it is closed and not before, so that no
// message is accepted after one that was refused.
Extended extend(Transaction& tx, Job& job, const Heartbeat& heartbeat) {
    Lease& lease = *job.lease;
    const bool is_last_term = lease.stop_requested && job.now.state == JobState::running;
    if (!is_last_term) {
        lease.term = heartbeat.term.value_or(lease.term);
        lease.until = tx.now() + lease.term;
        ++tx.counts().leases_extended;
    }
    if (heartbeat.progress) job.now.progress = heartbeat.progress;
    if (heartbeat.message) {
        const auto clean = without_secrets(heartbeat, tx.rules(), job.spec);
        job.now.message = clean ? *clean->message : *heartbeat.message;
    }
    return Extended{.until = lease.until, .stop_requested = lease.stop_requested};
}

// The same for a worker that is known by its name, and sends its message in two parts. Its message
// about a job that has ended is not kept.
Extended extend_by_name(Transaction& tx, Job& job, const Heartbeat& said) {
    Heartbeat heartbeat = said;
    if (is_final(job.now.state)) {
        heartbeat.message.reset();
    } else if (said.phase || said.message) {
        heartbeat.message = message_after(job.now.message, said.phase, said.message);
    }
    Extended extended = extend(tx, job, heartbeat);
    extended.job = std::make_shared<const Job>(job);
    return extended;
}

// A worker that is known by its name is shown the job that it need not work on any more. A running
// job belongs to another worker and is not shown: it would only mislead this one.
Result<Extended> answer_refused(const std::optional<Job>& job, const Heartbeat& heartbeat,
                                Error refusal) {
    const bool is_shown = heartbeat.by_worker && refusal.code != ErrorCode::not_found &&
                          job->now.state != JobState::running;
    if (!is_shown) return refusal;
    return Extended{.stop_requested = true, .job = std::make_shared<const Job>(*job)};
}

}  // namespace

std::vector<Result<Extended>> heartbeat_jobs(Transaction& tx,
                                             std::span<const Heartbeat> heartbeats) {
    std::vector<Result<Extended>> answers(heartbeats.size(), Extended{});
    const auto job_of = [&](std::size_t i) { return heartbeats[i].lease.job; };
    for (const auto& wave : in_waves(heartbeats.size(), job_of)) {
        std::vector<JobId> ids;
        for (const std::size_t i : wave) ids.push_back(job_of(i));
        auto found = tx.jobs().find(ids);
        std::vector<Job> extended;
        for (std::size_t k = 0; k < wave.size(); ++k) {
            const Heartbeat& heartbeat = heartbeats[wave[k]];
            if (auto refusal = lease_refusal(found[k], heartbeat.lease, heartbeat.by_worker,
                                             heartbeat.bounds)) {
                answers[wave[k]] = answer_refused(found[k], heartbeat, *std::move(refusal));
                continue;
            }
            answers[wave[k]] = heartbeat.by_worker ? extend_by_name(tx, *found[k], heartbeat)
                                                   : extend(tx, *found[k], heartbeat);
            extended.push_back(*std::move(found[k]));
        }
        if (!extended.empty()) tx.leases().save(extended);
    }
    return answers;
}

}  // namespace sluice
