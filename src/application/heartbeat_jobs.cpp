#include "application/heartbeat_jobs.hpp"

#include "application/leased_jobs.hpp"
#include "application/redact.hpp"
#include "application/waves.hpp"

namespace sluice {
namespace {

// A last term is not extended. It is lost when the lease is closed and not before, so that no word
// is accepted after one that was refused.
Extended extend(Transaction& tx, Job& job, const Heartbeat& heartbeat) {
    Lease& lease = *job.lease;
    const bool is_last_term = lease.stop_requested && job.state == JobState::running;
    if (!is_last_term) {
        lease.term = heartbeat.term.value_or(lease.term);
        lease.until = tx.now() + lease.term;
        ++tx.counts().leases_extended;
    }
    if (heartbeat.progress) job.progress = heartbeat.progress;
    if (heartbeat.message) {
        const auto clean = without_secrets(heartbeat, tx.rules(), job.spec);
        job.message = clean ? *clean->message : *heartbeat.message;
    }
    return Extended{lease.until, lease.stop_requested};
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
            if (auto refusal = lease_refusal(found[k], heartbeat.lease, heartbeat.bounds)) {
                answers[wave[k]] = *std::move(refusal);
                continue;
            }
            answers[wave[k]] = extend(tx, *found[k], heartbeat);
            extended.push_back(*std::move(found[k]));
        }
        if (!extended.empty()) tx.leases().save(extended);
    }
    return answers;
}

}  // namespace sluice
