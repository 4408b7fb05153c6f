#include "infrastructure/memory/memory_session.hpp"

#include "domain/values/check.hpp"

namespace sluice {

// ── rollback ──

MemoryWork::MemoryWork(MemoryRecords& all) : records(all), seen_now_before_(all.seen_now) {
    records.gather_readied(Timestamp::min());
    readied_before_ = records.readied;
}

MemoryRecords::Row& MemoryWork::change(JobId id) {
    const auto row = records.jobs.find(id);
    check(row != records.jobs.end(), "only a job that was put is changed");
    can_undo([this, id, before = row->second] { records.jobs.at(id) = before; });
    return row->second;
}

void MemoryWork::add_job(const Arrival& arrival) {
    const JobId id = arrival.job.spec->id;
    check(records.jobs.try_emplace(id, MemoryRecords::Row{arrival.job, arrival.blocked}).second,
          "a job is put once");
    can_undo([this, id] { records.jobs.erase(id); });
    use_number(id.value);
}

void MemoryWork::write(Job& stored, const Job& job) {
    stored.now = job.now;
    stored.lease = job.lease;
}

void MemoryWork::use_number(std::int64_t number) {
    if (number <= records.last_id) return;
    can_undo([this, before = records.last_id] { records.last_id = before; });
    records.last_id = number;
}

void MemoryWork::roll_back() {
    if (undo_.empty() && !asked_queue) return;
    for (auto step = undo_.rbegin(); step != undo_.rend(); ++step) (*step)();
    undo_.clear();
    records.readied = readied_before_;
    records.seen_now = seen_now_before_;
    records.rebuild();
}

// ── jobs ──

std::vector<std::optional<Job>> MemoryJobs::find(std::span<const JobId> ids) {
    return work_.records.find(ids);
}

void MemoryJobs::put(std::span<const Arrival> arrivals) {
    for (const Arrival& arrival : arrivals) {
        const Job& job = arrival.job;
        check(job.now.state == JobState::queued && !job.lease, "only queued jobs are put");
        work_.add_job(arrival);
        work_.records.queue.add(job.spec, job.now.run_after, arrival.blocked);
    }
}

void MemoryJobs::requeue(std::span<const Job> jobs) {
    for (const Job& job : jobs) {
        Job& stored = work_.change(job.spec->id).job;
        check(stored.now.state == JobState::running && job.now.state == JobState::queued,
              "only running jobs go back to the queue");
        MemoryWork::write(stored, job);
        stored.lease.reset();
        work_.records.watch(stored);
        work_.records.queue.release(stored.spec->id);
        work_.records.queue.add(stored.spec, stored.now.run_after, false);
    }
}

void MemoryJobs::finish(std::span<const Job> jobs) {
    MemoryRecords& records = work_.records;
    for (const Job& job : jobs) {
        MemoryRecords::Row& row = work_.change(job.spec->id);
        Job& stored = row.job;
        check(!is_final(stored.now.state) && is_final(job.now.state) && job.now.completed_at,
              "a job ends once");
        if (stored.now.state == JobState::queued) {
            check(!job.lease, "a job that waits has no lease");
            check(records.queue.remove(stored.spec, stored.now.run_after),
                  "a queued job is in the queue");
        }
        MemoryWork::write(stored, job);
        row.blocked = false;
        records.watch(stored);
        if (!stored.lease) records.queue.release(stored.spec->id);
    }
}

std::vector<JobId> MemoryJobs::dependents(std::span<const JobId> ended) {
    return work_.records.queue.dependents(ended);
}

void MemoryJobs::unblock(std::span<const Job> jobs) {
    for (const Job& job : jobs) {
        MemoryRecords::Row& row = work_.change(job.spec->id);
        check(row.blocked, "only a blocked job is unblocked");
        row.blocked = false;
        work_.records.queue.unblock(row.job.spec, row.job.now.run_after);
    }
}

// ── history ──

namespace {

template <class Item>
void append_to(std::unordered_map<JobId, std::vector<Item>>& lists, const Item& item,
               MemoryWork& work) {
    std::vector<Item>& list = lists[item.job];
    check(list.empty() || list.back().seq < item.seq, "history comes in the order of its numbers");
    list.push_back(item);
    work.can_undo([&lists, job = item.job] { lists.at(job).pop_back(); });
}

}  // namespace

void MemoryHistory::append(std::span<const Event> events) {
    for (const Event& event : events) append_to(work_.records.events, event, work_);
}

void MemoryHistory::append(std::span<const LogLine> lines) {
    for (const LogLine& line : lines) append_to(work_.records.logs, line, work_);
}

// ── idempotency ──

std::optional<IdempotentRequest> MemoryIdempotency::find(const std::string& tenant,
                                                         const std::string& key) {
    const auto found = work_.records.requests.find({tenant, key});
    return found == work_.records.requests.end() ? std::nullopt : std::optional(found->second);
}

void MemoryIdempotency::put(const IdempotentRequest& request) {
    auto& requests = work_.records.requests;
    const std::pair key(request.tenant, request.key);
    if (const auto found = requests.find(key); found != requests.end()) {
        work_.can_undo([&requests, before = found->second] {
            requests[{before.tenant, before.key}] = before;
        });
    } else {
        work_.can_undo([&requests, key] { requests.erase(key); });
    }
    requests[key] = request;
}

int MemoryIdempotency::forget_before(Timestamp time, int limit) {
    auto& requests = work_.records.requests;
    int forgotten = 0;
    for (auto row = requests.begin(); row != requests.end() && forgotten < limit;) {
        if (row->second.at >= time) {
            ++row;
            continue;
        }
        work_.can_undo([&requests, before = row->second] {
            requests[{before.tenant, before.key}] = before;
        });
        row = requests.erase(row);
        ++forgotten;
    }
    return forgotten;
}

// ── the session ──

MemorySession::MemorySession(std::unique_lock<std::mutex> lock, MemoryRecords& records)
    : lock_(std::move(lock)), work_(records) {}

MemorySession::~MemorySession() {
    if (lock_.owns_lock()) work_.roll_back();
}

JobReader& MemorySession::reader() {
    check(lock_.owns_lock(), "a session is not used after its commit");
    return reader_;
}

JobStore& MemorySession::jobs() {
    check(lock_.owns_lock(), "a session is not used after its commit");
    return jobs_;
}

LeaseStore& MemorySession::leases() {
    check(lock_.owns_lock(), "a session is not used after its commit");
    return leases_;
}

HistoryStore& MemorySession::history() {
    check(lock_.owns_lock(), "a session is not used after its commit");
    return history_;
}

IdempotencyStore& MemorySession::idempotency() {
    check(lock_.owns_lock(), "a session is not used after its commit");
    return idempotency_;
}

EntityStore& MemorySession::entities() {
    check(lock_.owns_lock(), "a session is not used after its commit");
    return entities_;
}

ArchiveStore& MemorySession::archive() {
    check(lock_.owns_lock(), "a session is not used after its commit");
    return archive_;
}

LimitStore& MemorySession::limits() {
    check(lock_.owns_lock(), "a session is not used after its commit");
    return limits_;
}

void MemorySession::commit() {
    check(lock_.owns_lock(), "a session is committed once");
    check(work_.taken.empty(), "what was taken from the queue is leased in the same session");
    work_.records.queue.permits().keep_changes();
    work_.records.queue.permits().take_forgotten();  // there are no rows
    lock_.unlock();
}

}  // namespace sluice
