#include "application/leases/append_logs.hpp"

#include "application/toolkit/leased_jobs.hpp"
#include "application/toolkit/redact.hpp"
#include "application/toolkit/waves.hpp"

namespace sluice {
namespace {

bool is_repeat(Lease& lease, const LogEntry& entry) {
    if (!entry.line) return false;
    if (*entry.line <= lease.client_seq) return true;
    lease.client_seq = *entry.line;
    return false;
}

Appended append_to(Transaction& tx, Job& job, const AppendLogs& as_sent,
                   std::vector<LogLine>& lines) {
    Lease& lease = *job.lease;
    if (as_sent.batch_mark != 0 && as_sent.batch_mark == lease.batch_mark)
        return {job.now.log_seq, 0};
    lease.batch_mark = as_sent.batch_mark;
    const auto clean = without_secrets(as_sent, tx.rules(), job.spec);
    const AppendLogs& batch = clean ? *clean : as_sent;
    int stored = 0;
    for (const LogEntry& entry : batch.entries) {
        if (is_repeat(lease, entry)) continue;
        lines.push_back(next_line(job, {.level = entry.level,
                                        .message = entry.message,
                                        .data = entry.data,
                                        .at = entry.at.value_or(tx.now())}));
        ++stored;
    }
    return {job.now.log_seq, stored};
}

}  // namespace

std::vector<Result<Appended>> append_logs(Transaction& tx, std::span<const AppendLogs> batches) {
    std::vector<Result<Appended>> answers(batches.size(), Appended{});
    const auto job_of = [&](std::size_t i) { return batches[i].lease.job; };
    for (const auto& wave : in_waves(batches.size(), job_of)) {
        std::vector<JobId> ids;
        for (const std::size_t i : wave) ids.push_back(job_of(i));
        auto found = tx.jobs().find(ids);
        std::vector<LogLine> lines;
        std::vector<Job> changed;
        for (std::size_t k = 0; k < wave.size(); ++k) {
            const AppendLogs& batch = batches[wave[k]];
            if (auto refusal = lease_refusal(found[k], batch.lease, batch.bounds)) {
                answers[wave[k]] = *std::move(refusal);
                continue;
            }
            answers[wave[k]] = append_to(tx, *found[k], batch, lines);
            changed.push_back(*std::move(found[k]));
        }
        tx.append(lines);
        if (!changed.empty()) tx.leases().save(changed);
    }
    return answers;
}

}  // namespace sluice
