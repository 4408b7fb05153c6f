#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "application/ports/store.hpp"

namespace sluice {

// One run of a duty; see application/engine/duties.hpp for their names.
struct DutyRun {
    std::string_view duty;
    std::int64_t items = 0;  // that it dealt with
    Timestamp at{};
    bool failed = false;  // nothing of it was kept
    std::string error{};  // of one that failed by itself, without the commands beside it
};

// The numbers of one commit.
struct CommitRecord {
    std::size_t commands = 0;
    std::int64_t submitted = 0;
    std::int64_t claimed = 0;
    std::array<std::int64_t, 6> ended{};  // by JobState
    std::int64_t retried = 0;
    std::int64_t leases_extended = 0;
    std::int64_t leases_expired = 0;
    std::int64_t log_lines = 0;
    std::vector<DutyRun> duties{};
    std::optional<std::size_t> waiting_claims{};  // nothing where claims never wait
    StoreSpace space = StoreSpace::ample;
    Duration took{};
    std::string failure{};  // why the store refused it; empty: it did not

    bool has_failed() const { return !failure.empty(); }
};

// Counts commits and runs of duties. Called by any thread.
class Telemetry {
  public:
    virtual ~Telemetry() = default;

    virtual void committed(const CommitRecord& record) = 0;

    // A duty ran outside of the engine's commits.
    virtual void ran(const DutyRun&) {}
};

}  // namespace sluice
