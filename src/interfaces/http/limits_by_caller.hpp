#pragma once

#include <cstddef>
#include <map>
#include <memory>
#include <string>

#include "interfaces/http/rate_limit.hpp"

namespace sluice::http {

// How much each caller may have at once, and how often it may come. Zero: no limit.
struct CallerLimits {
    struct Rate {
        std::int64_t requests = 0;
        Duration window = std::chrono::seconds(1);

        bool operator==(const Rate&) const = default;
    };
    Rate per_tenant{};
    Rate per_address{};  // loopback is exempt: proxies and local tools come from there
    Rate bad_tokens{20, std::chrono::minutes(1)};  // per address
    std::size_t streams_per_token = 32;
    std::size_t streams_per_tenant = 64;
    std::size_t waiting_claims_per_tenant = 1000;
};

// Counts what callers hold at the moment, by name.
class Holdings {
  public:
    // A place that is given back when the last copy is gone.
    using Place = std::shared_ptr<void>;

    // A place under this name, unless `limit` of them are taken. Zero: no limit.
    Place take(const std::string& name, std::size_t limit);

  private:
    // shared: a place may outlive the one who gave it
    std::shared_ptr<std::map<std::string, std::size_t>> taken_ =
        std::make_shared<std::map<std::string, std::size_t>>();
};

}  // namespace sluice::http
