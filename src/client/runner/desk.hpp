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

// The engine's answer about a lease.
enum class LeaseAnswer {
    held,            // it goes on
    stop_requested,  // it goes on, and the job should stop
    lost,            // it has ended
    refused,         // the call itself was wrong; a repeat is no use
};

struct LogEntry {
    Level level = Level::info;
    std::string message{};
    std::string data{};
    Time at{};
    std::int64_t line = 0;  // 1, 2, 3… within the lease, so that a repeat is recognized
};

struct ReportRequest {
    std::string lease_id{};
    Outcome outcome{};
};

// The gateway through which a runner claims jobs and reports outcomes: an engine, over HTTP or in
// this process. Calls block and come from several threads at once. They throw Error: of the kinds
// unavailable and unreachable when the same may be sent again.
class Desk {
  public:
    virtual ~Desk() = default;

    virtual std::vector<LeasedJob> claim(const ClaimRequest& request) = 0;
    virtual std::vector<LeaseAnswer> heartbeat(std::span<const HeartbeatRequest> requests) = 0;
    virtual LeaseAnswer append_logs(const std::string& lease_id,
                                    std::span<const LogEntry> entries) = 0;
    // A single report that is refused for another reason than its lease may throw Error (refused)
    // instead, to say why.
    virtual std::vector<LeaseAnswer> report(std::span<const ReportRequest> requests) = 0;
    virtual LeaseAnswer release(const std::string& lease_id, const std::string& reason) = 0;

    // Ends a waiting claim, with no jobs, and lets no further one wait. A claim that may be granted
    // already is not cut off: its jobs have to be released.
    virtual void stop_waiting() = 0;
};

}  // namespace sluice::client
