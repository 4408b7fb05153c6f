#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>

#include "application/toolkit/transaction.hpp"
#include "domain/jobs/job.hpp"

namespace sluice {

// What limits refuse of the submits of one batch.
class SubmitLimits {
  public:
    explicit SubmitLimits(Transaction& tx) : tx_(tx), rules_(tx.limits().limit_rules()) {}

    // Why a job that a client asks for is not taken: its tenant is blocked, maintenance refuses
    // submits, or its source would be one too many or is no name that a rule can have.
    std::optional<Error> refuse(const JobSpec& spec);

  private:
    std::optional<Error> refuse_source(const JobSpec& spec);
    std::int64_t& count_of_sources(const std::string& tenant);

    Transaction& tx_;
    std::shared_ptr<const LimitRules> rules_;
    std::set<std::pair<std::string, std::string>> known_sources_;
    std::map<std::string, std::int64_t> counts_of_sources_;  // by tenant, those of this batch too
};

}  // namespace sluice
