#include "interfaces/http/access/rate_limit.hpp"

#include <algorithm>

namespace sluice::http {
namespace {

constexpr std::size_t buckets_max = 10'000;

}  // namespace

// A bucket is kept as the moment at which it is full again: each request puts it off by its share
// of the window, and one that would put it off by more than the window is one too many.
RateLimit::Verdict RateLimit::take(const std::string& name, Timestamp now) {
    if (!is_on()) return {};
    if (buckets_.size() >= buckets_max) forget_full(now);
    Bucket& bucket = buckets_[name];
    const Timestamp full_at = std::max(bucket.full_at, now) + per_request();
    const Duration missing = full_at - now;
    if (missing > window_) return {false, 0, missing - window_};
    bucket.full_at = full_at;
    const std::int64_t left = (window_ - missing) / per_request();
    return {true, left, left > 0 ? Duration{0} : per_request()};
}

void RateLimit::forget_full(Timestamp now) {
    std::erase_if(buckets_, [&](const auto& entry) { return entry.second.full_at <= now; });
    // All of them are in use: forgetting them gives each one window more.
    if (buckets_.size() >= buckets_max) buckets_.clear();
}

}  // namespace sluice::http
