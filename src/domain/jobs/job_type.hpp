#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "domain/jobs/backoff.hpp"
#include "domain/values/time.hpp"

namespace sluice {

// The defaults of jobs of a type, for fields that their submitter does not set.
struct JobType {
    std::string name;
    std::string queue = "default";
    int priority = 0;
    int max_attempts = 3;
    Duration timeout = std::chrono::minutes(30);  // zero: no deadline
    Backoff backoff = Backoff::exponential(std::chrono::seconds(1), std::chrono::minutes(5));
    bool retry_on_timeout = false;
    bool needs_node = false;            // its jobs run on a node, and must name it
    bool needs_site = false;            // its jobs are about a site, and must name it
    bool refuses_site = false;          // its jobs are about a node only
    bool admin_cancels = false;         // only admins cancel its jobs
    bool needs_error = false;           // a failed report sets error_code and error_message
    std::vector<std::string> redact{};  // paths in the payload that only its worker sees

    bool operator==(const JobType&) const = default;
};

// The known job types, and the policy for all others.
class JobTypes {
  public:
    JobTypes() = default;

    void put(JobType type);
    void set_default(JobType type) { default_ = std::move(type); }
    void refuse_unknown(bool refuse) { strict_ = refuse; }

    const JobType& fallback() const { return default_; }

    // The type of this name, else the default policy; nullptr when unknown types are refused.
    const JobType* find(std::string_view name) const;

    const std::map<std::string, JobType, std::less<>>& all() const { return types_; }

  private:
    std::map<std::string, JobType, std::less<>> types_;
    JobType default_;
    bool strict_ = false;
};

}  // namespace sluice
