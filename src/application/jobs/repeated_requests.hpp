#pragma once

#include <optional>
#include <string>
#include <vector>

#include "application/toolkit/transaction.hpp"
#include "domain/values/result.hpp"

namespace sluice {

// The request for which this tenant used this key within `remembered`, if any. A request with
// another body is refused.
Result<std::optional<IdempotentRequest>> find_repeated(Transaction& tx, const std::string& tenant,
                                                       const std::string& key,
                                                       const Digest& body_digest,
                                                       Duration remembered);

// The jobs that the first request made, as it was answered.
std::vector<Job> jobs_as_accepted(Transaction& tx, const IdempotentRequest& first);

}  // namespace sluice
