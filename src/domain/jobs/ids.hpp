#pragma once

#include <compare>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "domain/values/time.hpp"

namespace sluice {

// A time-ordered number: 41 bits of milliseconds since 2020, 10 bits of node, 12 bits of sequence.
// Outside it is 24 hex digits in ObjectId layout (seconds, then the rest), which sort the same way.
struct JobId {
    std::int64_t value = 0;

    auto operator<=>(const JobId&) const = default;
};

// Names one claim of one job. Each claim of a job gets a larger token than the one before it.
struct LeaseToken {
    std::int64_t value = 0;

    auto operator<=>(const LeaseToken&) const = default;
};

// A worker's proof of its claim: the job and the token that fences its writes.
struct LeaseId {
    JobId job;
    LeaseToken token;

    auto operator<=>(const LeaseId&) const = default;
};

void append_text(std::string& out, JobId id);
std::string to_text(JobId id);
std::optional<JobId> parse_job_id(std::string_view text);

// The ids whose text begins with these hex digits, from the first to the last; nothing when there
// can be none.
struct JobIdRange {
    JobId first;
    JobId last;

    bool operator==(const JobIdRange&) const = default;
};
std::optional<JobIdRange> ids_with_prefix(std::string_view prefix);

// The smallest id that can be given at this moment or later.
JobId first_id_at(Timestamp time);

// "<24 hex digits>-<16 hex digits>"
void append_text(std::string& out, LeaseId id);
std::string to_text(LeaseId id);
std::optional<LeaseId> parse_lease_id(std::string_view text);

// Hands out increasing numbers for ids and tokens. When a millisecond's sequence is used up, or the
// clock stands still or goes back, it runs ahead of the clock rather than repeat itself.
class IdSource {
  public:
    explicit IdSource(int node);

    std::int64_t next(Timestamp now);

    // Never hands out `used` or a smaller number; for a start on a store that has seen later ids.
    void skip_to(std::int64_t used);

  private:
    std::int64_t node_bits_;
    std::int64_t last_tick_ = 0;  // milliseconds and sequence, without the node
};

}  // namespace sluice

template <>
struct std::hash<sluice::JobId> {
    std::size_t operator()(sluice::JobId id) const noexcept {
        // Fibonacci hashing: neighbours in time spread over the table.
        return static_cast<std::size_t>(static_cast<std::uint64_t>(id.value) * 0x9E3779B97F4A7C15u);
    }
};
