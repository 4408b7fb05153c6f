#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "application/caller.hpp"
#include "application/ports/clock.hpp"
#include "application/ports/command_queue.hpp"
#include "application/ports/query_queue.hpp"
#include "application/rules.hpp"
#include "interfaces/http/access.hpp"
#include "interfaces/http/deploy/runners_seen.hpp"
#include "interfaces/http/deploy/settings.hpp"
#include "interfaces/http/job_feed.hpp"
#include "interfaces/http/lease_seal.hpp"
#include "interfaces/http/limits_by_caller.hpp"
#include "interfaces/http/long_questions.hpp"
#include "interfaces/http/message.hpp"

namespace sluice::http {

struct Route;
namespace deploy {
class AgentCalls;
}

// How often callers may come, and what they hold.
struct Turnstile {
    explicit Turnstile(const CallerLimits& wanted)
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

// What handlers work with. Lives on the I/O thread.
struct App {
    CommandQueue& commands;
    QueryQueue& queries;
    Clock& clock;
    JobFeed& feed;
    const Rules& rules;
    Access& access;
    Turnstile& turnstile;
    LeaseSeal& seal;
    std::function<std::string(const Depths&)> metrics_text;
    std::function<std::string()> new_secret;  // 256 random bits as text
    std::function<void(const Caller&, const Route&)> on_denied{};
    Duration default_lease = std::chrono::seconds(30);
    Duration max_lease = std::chrono::hours(1);
    deploy::Settings deploy{};
    deploy::RunnersSeen runners_seen{};
    LongQuestions long_questions{};
    deploy::AgentCalls* agents = nullptr;  // none: agents of runtime nodes are not called
    bool stopping = false;                 // /readyz says no, so that nobody sends more
    std::uint64_t tickets = 0;             // the last one given to a waiting claim
};

// One request on its way to its answer.
struct Call {
    const Request& request;
    std::string_view id;      // what stands in the path at its first {…}, or empty
    std::string_view second;  // and at its second
    App& app;
    CallerPtr caller;
    Reply reply;
};

}  // namespace sluice::http
