#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "domain/jobs/lane.hpp"
#include "domain/limits/limit_rules.hpp"
#include "domain/values/time.hpp"

namespace sluice {

// Reads the rules about which jobs may run now, and their meters. Every sentence has a test in
// tests/contract/.
class LimitReader {
  public:
    virtual ~LimitReader() = default;

    // The rules that hold now. In a session: those that it goes by. The commit of a session that
    // takes jobs, ends leases or adds jobs is a StoreConflict when another session has changed the
    // rules meanwhile; the next try goes by the new ones.
    virtual std::shared_ptr<const LimitRules> limit_rules() = 0;

    // The meters of these ids, in this order. One that has never counted is full and idle.
    virtual std::vector<MeterState> meters(std::span<const MeterId> ids) = 0;
};

// A lane with claimable jobs or leases.
struct LaneNow {
    Lane lane;
    std::int64_t ready = 0;   // claimable, but for limits; counted up to a maximum
    std::int64_t active = 0;  // leases
};

// What a source has done; in a session: what is added.
struct SourceCount {
    std::string tenant;
    std::string source;
    std::int64_t submitted = 0;
    std::int64_t succeeded = 0;
    std::int64_t failed = 0;  // failed or timed out
    std::optional<Timestamp> last_job_at{};

    bool operator==(const SourceCount&) const = default;
};

// Sources are counted by hours since 1970, of which the present one and the 23 before it count.
constexpr std::int64_t hour_of(Timestamp time) {
    return to_micros(time) / 3'600'000'000;
}
constexpr std::int64_t first_hour_counted(Timestamp now) {
    return hour_of(now) - 23;
}

constexpr Timestamp first_moment_of(std::int64_t hour) {
    return from_micros(hour * 3'600'000'000);
}

// A meter that does not agree with the leases.
struct MeterDifference {
    std::string rule;   // its id
    std::string meter;  // its name, for people
    std::int64_t counted = 0;
    std::int64_t leased = 0;

    bool operator==(const MeterDifference&) const = default;
};

// The meters of the writing session. Leases that the session opens and closes count by themselves:
// LeaseStore::take() gives no job that a rule does not permit, notes each start, and each permit is
// returned once, with the lease.
class LimitStore : public LimitReader {
  public:
    // This session has written entities that are rules (application/limits/stored_rules.hpp): from
    // its commit on they hold, in every session that commits later, and their meters count the
    // leases that are open then. Such a session opens and closes no leases. All lanes that were
    // closed are looked at again. Buckets follow rates that were changed.
    virtual void rules_written(Timestamp now) = 0;

    // Every lane that has claimable jobs, counted up to `ready_max` each, or leases.
    virtual std::vector<LaneNow> lanes(std::int64_t ready_max) = 0;

    // Compares all meters with the leases. `repair`: sets them right, in a session that opens and
    // closes no leases.
    virtual std::vector<MeterDifference> check_meters(bool repair) = 0;

    // Adds to the counts of sources; a source that is not known becomes known.
    virtual void count_sources(std::span<const SourceCount> counts, Timestamp now) = 0;

    // The sources of a tenant, or of all tenants if it is empty, by their names: submits and ends
    // of the last 24 hours, to the hour.
    virtual std::vector<SourceCount> sources(const std::string& tenant, Timestamp now) = 0;

    // Whether the source is known, and how many are.
    virtual bool knows_source(const std::string& tenant, const std::string& source) = 0;
    virtual std::int64_t count_of_sources(const std::string& tenant) = 0;

    // Forgets sources, `limit` at the most: those that did nothing in the last 24 hours, have no
    // job that waits or is leased, and are named by no rule. Returns how many.
    virtual int forget_sources(Timestamp now, int limit) = 0;
};

}  // namespace sluice
