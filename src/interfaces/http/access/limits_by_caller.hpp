#pragma once

#include <cstddef>
#include <map>
#include <memory>
#include <string>

#include "interfaces/http/access/rate_limit.hpp"

namespace sluice::http {

// The shares that each caller may have at once, and the rate of its requests. Zero: no limit.
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

// Counts the shares that callers hold at the moment, by name.
class Holdings {
  public:
    // A share that is given back when the last copy is gone.
    using Share = std::shared_ptr<void>;

    // A share under this name, unless `limit` of them are taken. Zero: no limit.
    Share take(const std::string& name, std::size_t limit);

  private:
    // shared: a share may outlive its Holdings
    std::shared_ptr<std::map<std::string, std::size_t>> taken_ =
        std::make_shared<std::map<std::string, std::size_t>>();
};

// Counts how often callers come and what they hold, against their limits.
struct CallerLimiter {
    explicit CallerLimiter(const CallerLimits& wanted)
        : limits(wanted),
          per_tenant(wanted.per_tenant.requests, wanted.per_tenant.window),
          per_address(wanted.per_address.requests, wanted.per_address.window),
          bad_tokens(wanted.bad_tokens.requests, wanted.bad_tokens.window) {}

    const CallerLimits limits;
    RateLimit per_tenant;
    RateLimit per_address;
    RateLimit bad_tokens;
    Holdings streams{};
    Holdings waiting_claims{};
};

}  // namespace sluice::http
