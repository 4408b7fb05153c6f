#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "sluice/worker.hpp"

namespace sluice::client {

struct ClaimRequest {
    std::string worker_id{};
    std::string tenant{};
    std::vector<std::string> queues{};
    std::vector<std::string> types{};
    std::vector<std::string> labels{};
    int limit = 1;
    Millis lease{};
    Millis wait{};
};

struct LeasedJob {
    std::string lease_id{};
    Job job{};
};

struct HeartbeatRequest {
    std::string lease_id{};
    std::optional<int> progress{};
    std::optional<std::string> message{};
};

// What the engine says about a lease.
enum class LeaseWord {
    held,            // it goes on
    stop_requested,  // it goes on, and the job should stop
    lost,            // it has ended
    refused,         // the call itself was wrong; to repeat it is of no use
};

struct LogEntry {
    Level level = Level::info;
    std::string message{};
    std::string data{};
    Time at{};
    std::int64_t line = 0;  // 1, 2, 3… within the lease, so that a repeat is recognised
};

struct ReportRequest {
    std::string lease_id{};
    Outcome outcome{};
};

// Where a runner gets jobs from and says how they went: an engine, over HTTP or in this process.
// Calls block and come from several threads at once. They throw Error: of the kinds unavailable and
// unreachable when the same may be sent again.
class Desk {
  public:
    virtual ~Desk() = default;

    virtual std::vector<LeasedJob> claim(const ClaimRequest& request) = 0;
    virtual std::vector<LeaseWord> heartbeat(std::span<const HeartbeatRequest> requests) = 0;
    virtual LeaseWord append_logs(const std::string& lease_id,
                                  std::span<const LogEntry> entries) = 0;
    // A single report that is refused for another reason than its lease may throw Error (refused)
    // instead, to say why.
    virtual std::vector<LeaseWord> report(std::span<const ReportRequest> requests) = 0;
    virtual LeaseWord release(const std::string& lease_id, const std::string& reason) = 0;

    // Ends a claim that waits, with nothing, and lets no further one wait. One that may be granted
    // already is not cut off: what it brings is to be released.
    virtual void stop_waiting() = 0;
};

}  // namespace sluice::client
