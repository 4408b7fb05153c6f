#pragma once

#include <optional>
#include <string>
#include <vector>

#include "application/transaction.hpp"
#include "domain/result.hpp"

namespace sluice {

// What this key of this tenant was used for within `remembered`, if anything. Another body is
// refused.
Result<std::optional<IdempotentRequest>> find_repeated(Transaction& tx, const std::string& tenant,
                                                       const std::string& key,
                                                       const Digest& body_digest,
                                                       Duration remembered);

// The jobs that the first request made, as it was answered.
std::vector<Job> jobs_as_accepted(Transaction& tx, const IdempotentRequest& first);

}  // namespace sluice
