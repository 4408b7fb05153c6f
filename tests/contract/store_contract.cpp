#include "contract/store_contract.hpp"

#include "domain/values/check.hpp"

namespace sluice {

std::string store_name(const testing::TestParamInfo<StoreUnderTest>& info) {
    return info.param.name;
}

std::vector<Job> take(Session& session, const ClaimFilter& filter, int limit, Timestamp now) {
    const LeaseStore::Wanted wanted{&filter, limit};
    return std::move(session.leases().take({&wanted, 1}, now).front());
}

bool StoreContract::reopen() {
    if (!GetParam().reopen) return false;
    store.reset();
    store = GetParam().reopen();
    return true;
}

Job StoreContract::put(const JobSpec& spec) {
    const Arrival arrival{queued(spec), false};
    commit([&](Session& session) { session.jobs().put({&arrival, 1}); });
    return arrival.job;
}

Job StoreContract::put_blocked(const JobSpec& spec) {
    const Arrival arrival{queued(spec), true};
    commit([&](Session& session) { session.jobs().put({&arrival, 1}); });
    return arrival.job;
}

Job StoreContract::put_running(const JobSpec& spec, const Claim& claim) {
    return open(put(spec), claim);
}

// A lease is opened on a job that was just taken, so the job must be the next one of its lane.
Job StoreContract::open(const Job& queued_job, const Claim& claim) {
    const JobSpec& wanted = queued_job.spec;
    const ClaimFilter filter{.tenant = wanted.tenant,
                             .queues = {wanted.queue},
                             .types = {wanted.type},
                             .labels = wanted.labels};
    return commit([&](Session& session) {
        const std::vector<Job> taken = take(session, filter, 1, claim.now);
        check(taken.size() == 1 && taken[0].spec->id == wanted.id,
              "the test's job is the next to be taken");
        Job job = running(taken[0], claim);
        session.leases().open({&job, 1});
        return job;
    });
}

Job StoreContract::requeue(const Job& job) {
    commit([&](Session& session) { session.jobs().requeue({&job, 1}); });
    return job;
}

Job StoreContract::finish(const Job& job) {
    commit([&](Session& session) { session.jobs().finish({&job, 1}); });
    return job;
}

Job StoreContract::save(const Job& job) {
    commit([&](Session& session) { session.leases().save({&job, 1}); });
    return job;
}

void StoreContract::close(Job job) {
    job.lease.reset();
    commit([&](Session& session) { session.leases().close({&job, 1}); });
}

StoreContract::Ids StoreContract::claimable(Timestamp now, int limit, const ClaimFilter& filter) {
    const auto session = store->begin();
    return ids_of(take(*session, filter, limit, now));
}

int StoreContract::newly_ready(Timestamp now) {
    const int count = commit([&](Session& session) {
        int readied = 0;
        for (const Readied& lane : session.leases().newly_ready(now)) readied += lane.count;
        return readied;
    });
    return count + std::exchange(reopened_, 0);
}

Timestamp StoreContract::next_due() {
    if (GetParam().is_shared) newly_ready(Timestamp{});  // jobs that are ready already are not due
    for (;;) {
        const auto session = store->begin();
        const Timestamp due = session->leases().next_due();
        if (!GetParam().is_shared || due == never) return due;
        // Nothing is due there: it looks again, and names the next moment.
        const bool is_due = !session->leases().expired(due, 1).empty() ||
                            !session->leases().overdue(due, 1).empty() ||
                            !session->leases().newly_ready(due).empty();
        if (is_due) return due;
        session->leases().next_due();
        session->commit();
    }
}

std::optional<JobId> StoreContract::holder(const std::string& key, const std::string& tenant) {
    return store->begin()->leases().holders(tenant, {&key, 1}).front();
}

StoreContract::Ids StoreContract::list(const JobFilter& filter, JobId before, ListLimit limit) {
    return ids_of(store->reader()->list(filter, before, limit));
}

}  // namespace sluice
