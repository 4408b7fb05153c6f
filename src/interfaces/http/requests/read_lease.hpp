#pragma once

#include <string_view>
#include <vector>

#include "application/ports/commands.hpp"
#include "application/toolkit/make_job.hpp"
#include "domain/access/caller.hpp"
#include "interfaces/http/access/lease_seal.hpp"
#include "json/json_reader.hpp"

namespace sluice::http {

struct ClaimRequest {
    ClaimJobs claim;
    Duration wait{};
};

// The lengths of a lease that a worker may ask for.
struct LeaseTerms {
    Duration usual{};  // when the worker asks for none
    Duration max{};
};

// Of the caller's tenant unless it names another one, and of the types that the caller may run.
ClaimRequest read_claim(JsonReader& reader, const LeaseTerms& terms, const Caller& caller);

// These read an object. In a list of many it also holds "lease_id"; alone the path names the lease.
Heartbeat read_heartbeat(JsonReader& reader, const LeaseTerms& terms, const LeaseSeal& seal);
AppendLogs read_log_batch(JsonReader& reader);

// Stands for a text that names a batch of log lines; never 0.
std::int64_t mark_of(std::string_view text);
Report read_report(JsonReader& reader, const LeaseSeal& seal);
HandBack read_release(JsonReader& reader);

// Reads {"<list>":[…]}, each of its elements by `read`; every one must name its lease.
template <class Command, class Read>
std::vector<Command> read_many(JsonReader& reader, std::string_view list, Read read) {
    std::vector<Command> commands;
    reader.object([&](std::string_view key) {
        if (key != list) return reader.fail("is not a known field");
        reader.array([&](std::size_t) {
            if (commands.size() == limits::batch_jobs) {
                return reader.fail("has more than 1000 entries", ErrorCode::too_large);
            }
            commands.push_back(read(reader));
            if (commands.back().lease.job == JobId{}) reader.fail_at("lease_id", "is required");
        });
    });
    if (commands.empty()) reader.fail_at(list, "needs at least one entry");
    return commands;
}

inline constexpr Duration lease_min = std::chrono::milliseconds(100);
inline constexpr Duration wait_max = std::chrono::seconds(60);

}  // namespace sluice::http
