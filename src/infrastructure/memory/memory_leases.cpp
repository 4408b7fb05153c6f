#include <algorithm>

#include "domain/values/check.hpp"
#include "infrastructure/memory/memory_session.hpp"

// The part of a MemoryStore's session that deals with the ready queue and leases.
namespace sluice {

std::vector<std::vector<Job>> MemoryLeases::take(std::span<const Wanted> wanted, Timestamp now) {
    MemoryRecords& records = work_.records;
    work_.asked_queue = true;
    records.gather_readied(now);
    std::vector<std::vector<Job>> taken;
    for (const std::vector<JobId>& ids : records.queue.take(wanted, now)) {
        std::vector<Job>& jobs = taken.emplace_back();
        for (const JobId id : ids) {
            jobs.push_back(records.jobs.at(id).job);
            work_.taken.insert(id);
        }
    }
    return taken;
}

void MemoryLeases::open(std::span<const Job> jobs) {
    for (const Job& job : jobs) {
        check(work_.taken.erase(job.spec->id) == 1, "a lease is opened on what was just taken");
        check(job.now.state == JobState::running && job.lease,
              "an opened lease is there and the job runs");
        Job& stored = work_.change(job.spec->id).job;
        check(stored.now.state == JobState::queued && !stored.lease, "a job has one lease");
        MemoryWork::write(stored, job);
        work_.use_number(job.lease->token.value);
        work_.records.watch(stored);
    }
}

void MemoryLeases::save(std::span<const Job> jobs) {
    for (const Job& job : jobs) {
        Job& stored = work_.change(job.spec->id).job;
        check(job.lease && stored.is_leased_under(job.lease->token),
              "only a current lease is saved");
        stored.lease = job.lease;
        stored.now.apply_worker_update(job.now);
        work_.records.watch(stored);
    }
}

void MemoryLeases::close(std::span<const Job> jobs) {
    for (const Job& job : jobs) {
        Job& stored = work_.change(job.spec->id).job;
        check(is_final(stored.now.state) && stored.lease,
              "only an ended job's lease is closed by itself");
        stored.lease.reset();
        stored.now.apply_worker_update(job.now);
        work_.records.watch(stored);
        work_.records.queue.release(job.spec->id);
    }
}

void MemoryLeases::give_back(Duration lost, Timestamp now) {
    std::vector<JobId> leased;
    for (const auto& [id, row] : work_.records.jobs) {
        if (row.job.lease) leased.push_back(id);
    }
    for (const JobId id : leased) {
        Job& stored = work_.change(id).job;
        stored.lease->until = later_end(*stored.lease, lost, now);
        work_.records.watch(stored);
    }
}

// A single engine never gives a number twice.
LeaseToken MemoryLeases::newest_token() {
    return work_.records.is_shared ? LeaseToken{work_.records.last_id} : LeaseToken{};
}

std::vector<JobId> MemoryLeases::expired(Timestamp now, int limit) {
    return work_.records.clock.expired(now, limit);
}

std::vector<JobId> MemoryLeases::overdue(Timestamp now, int limit) {
    return work_.records.clock.overdue(now, limit);
}

Timestamp MemoryLeases::next_due() {
    return std::min(work_.records.clock.next_due(), work_.records.queue.next_due());
}

std::vector<Readied> MemoryLeases::newly_ready(Timestamp now) {
    work_.asked_queue = true;
    work_.records.gather_readied(now);
    std::vector<Readied> result;
    for (const auto& [lane, count] : work_.records.readied) result.push_back({lane, count});
    work_.records.readied.clear();
    return result;
}

std::vector<std::optional<JobId>> MemoryLeases::holders(const std::string& tenant,
                                                        std::span<const std::string> keys) {
    std::vector<std::optional<JobId>> found;
    for (const std::string& key : keys) found.push_back(work_.records.queue.holder(tenant, key));
    return found;
}

std::vector<Depth> MemoryLeases::depths() {
    return work_.records.queue.depths();
}

}  // namespace sluice
