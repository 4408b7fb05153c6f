#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "application/ports/clock.hpp"
#include "application/ports/command_queue.hpp"
#include "application/ports/query_queue.hpp"
#include "application/rules.hpp"
#include "interfaces/http/deploy/settings.hpp"
#include "interfaces/http/job_feed.hpp"
#include "interfaces/http/message.hpp"

namespace sluice::http {

// What handlers work with. Lives on the I/O thread.
struct App {
    CommandQueue& commands;
    QueryQueue& queries;
    Clock& clock;
    JobFeed& feed;
    const Rules& rules;
    std::function<std::string(const Depths&)> metrics_text;
    Duration default_lease = std::chrono::seconds(30);
    Duration max_lease = std::chrono::hours(1);
    std::vector<std::string> admins{};  // callers of these names may do everything
    deploy::Settings deploy{};
    bool stopping = false;      // /readyz says no, so that nobody sends more
    std::uint64_t tickets = 0;  // the last one given to a waiting claim
};

// One request on its way to its answer.
struct Call {
    const Request& request;
    std::string_view id;      // what stands in the path at its first {…}, or empty
    std::string_view second;  // and at its second
    App& app;
    Reply reply;
};

}  // namespace sluice::http
