#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include "application/ports/clock.hpp"
#include "application/ports/command_queue.hpp"
#include "application/ports/published_rules.hpp"
#include "application/ports/query_queue.hpp"
#include "application/toolkit/rules.hpp"
#include "domain/access/caller.hpp"
#include "interfaces/http/access/access.hpp"
#include "interfaces/http/access/lease_seal.hpp"
#include "interfaces/http/access/limits_by_caller.hpp"
#include "interfaces/http/message/message.hpp"
#include "interfaces/http/toolkit/job_feed.hpp"
#include "interfaces/http/toolkit/long_questions.hpp"
#include "interfaces/http/toolkit/parts.hpp"

namespace sluice::http {

struct Route;

// The state that handlers work with. Lives on the I/O thread.
struct App {
    CommandQueue& commands;
    QueryQueue& queries;
    Clock& clock;
    JobFeed& feed;
    const Rules& rules;
    const PublishedRules& rules_now;  // about what may run
    Access& access;
    CallerLimiter& limiter;
    LeaseSeal& seal;
    std::function<std::string(const Depths&, const LimitsNow&)> metrics_text;
    std::function<std::string()> new_secret;  // 256 random bits as text
    std::function<void(const Caller&, const Route&)> on_denied{};
    Duration default_lease = std::chrono::seconds(30);
    Duration max_lease = std::chrono::hours(1);
    Parts parts{};
    LongQuestions long_questions{};
    bool stopping = false;      // /readyz says no, so that no more requests are sent
    std::uint64_t tickets = 0;  // the last one given to a waiting claim

    // The part that a contract keeps for itself.
    template <class Part>
    Part& part() const {
        return parts.get<Part>();
    }
};

// One request on its way to its answer.
struct Call {
    const Request& request;
    App& app;
    CallerPtr caller;
    Reply reply;

    // The segment of the path at this {…} of the route's pattern.
    std::string_view param(std::size_t index) const { return request.param(index); }
};

}  // namespace sluice::http
