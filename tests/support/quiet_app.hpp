#pragma once

#include <memory>

#include "interfaces/http/toolkit/app.hpp"

namespace sluice {

// The surroundings of a handler's call, where nothing happens: no store, no time, no answers. For
// functions that only read the request.
class QuietApp : CommandQueue, QueryQueue, Clock {
  public:
    http::Call call(const http::Request& request, const CallerPtr& caller) {
        return {.request = request, .app = app_, .caller = caller, .reply = http::Reply(nullptr)};
    }

  private:
    void forget(std::uint64_t) override {}
    bool add(Route, Load, const std::function<void(Batch&)>&) override { return false; }
    bool run(std::function<Delivery(JobReader&)>) override { return false; }
    Timestamp now() override { return from_micros(1'800'000'000'000'000); }

    PublishedRules rules_now_;
    http::JobFeed feed_;
    http::Access access_{{}, *this, *this, nullptr};
    http::CallerLimiter limiter_{http::CallerLimits{}};
    http::LeaseSeal seal_;
    http::App app_{.commands = *this,
                   .queries = *this,
                   .clock = *this,
                   .feed = feed_,
                   .rules = Rules::built_in(),
                   .rules_now = rules_now_,
                   .access = access_,
                   .limiter = limiter_,
                   .seal = seal_,
                   .metrics_text = {},
                   .new_secret = {}};
};

}  // namespace sluice
