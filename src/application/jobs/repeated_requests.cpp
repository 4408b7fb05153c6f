#include "application/jobs/repeated_requests.hpp"

#include "domain/values/check.hpp"

namespace sluice {

Result<std::optional<IdempotentRequest>> find_repeated(Transaction& tx, const std::string& tenant,
                                                       const std::string& key,
                                                       const Digest& body_digest,
                                                       Duration remembered) {
    auto first = tx.idempotency().find(tenant, key);
    if (!first || first->at + remembered <= tx.now()) return std::optional<IdempotentRequest>{};
    if (first->body_digest == body_digest) return first;
    return Error{ErrorCode::idempotency_mismatch,
                 "this Idempotency-Key was used with another body; use a new key for a new request",
                 ""};
}

std::vector<Job> jobs_as_accepted(Transaction& tx, const IdempotentRequest& first) {
    std::vector<Job> jobs;
    for (std::optional<Job>& job : tx.jobs().find(first.jobs)) {
        check(job.has_value(), "a remembered job exists");
        Job then = accepted(std::move(job->spec));
        then.now.head.seq = 1;
        jobs.push_back(std::move(then));
    }
    return jobs;
}

}  // namespace sluice
