#pragma once

#include <string>
#include <unordered_map>

#include "domain/values/time.hpp"

namespace sluice::http {

// Limits the requests in a period of time, for each name: a bucket each, which fills up again
// steadily.
class RateLimit {
  public:
    struct Verdict {
        bool is_allowed = true;
        std::int64_t left = 0;  // how many more may come right now
        Duration until_more{};  // until the bucket has one, or one more
    };

    // Zero requests: no limit.
    RateLimit(std::int64_t requests, Duration window) : requests_(requests), window_(window) {}

    bool is_on() const { return requests_ > 0; }
    std::int64_t requests() const { return requests_; }
    Duration window() const { return window_; }

    // Takes one, if there is one.
    Verdict take(const std::string& name, Timestamp now);

  private:
    struct Bucket {
        Timestamp full_at{};  // when it will be full again; so much is missing
    };

    Duration per_request() const { return window_ / requests_; }
    void forget_full(Timestamp now);

    std::int64_t requests_;
    Duration window_;
    std::unordered_map<std::string, Bucket> buckets_;
};

}  // namespace sluice::http
