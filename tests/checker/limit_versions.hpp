#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "checker/evidence.hpp"
#include "checker/verdict.hpp"

namespace sluice::checker {

struct RateBound {
    std::int64_t count = 0;
    Span period{};
    std::int64_t burst = 0;
    bool whole_hour = false;  // no more than `count` in any hour, either

    bool operator==(const RateBound&) const = default;
};

// What a limit demands of the jobs that it covers.
struct LimitTerms {
    std::string kind{};
    std::string profile{};
    std::map<std::string, std::string> scope{};  // names, or beginnings such as "scan.*", by field
    std::set<std::string> per{};                 // the fields by whose values it counts
    std::optional<std::int64_t> max_active{};
    std::optional<RateBound> rate{};
    bool paused = false;
    bool refuses_submits = false;
    std::optional<Time> until{};

    bool operator==(const LimitTerms&) const = default;
};

LimitTerms read_terms(const Json& attributes);

struct Interval {
    Time from{};
    Time until{};

    bool has(Time begin, Time end) const { return from <= begin && end <= until; }
    bool has(const Interval& other) const { return has(other.from, other.until); }
    bool touches(const Interval& other) const { return from <= other.until && other.from <= until; }
};

// When each change of a limit was committed.
std::vector<Interval> commits_of_changes(const Evidence& evidence, const Limits& limits);

// A limit from one change of its terms to the next, by the clients' clock.
struct LimitVersion {
    std::string limit{};
    LimitTerms terms{};
    Interval certain{};   // it was in force all the time
    Interval possible{};  // it was not in force outside of this
    // When tenants may have had another quota instead of this one; "" stands for any tenant.
    std::multimap<std::string, Interval> excepted{};

    bool may_cover(const Job& job) const;
    // For certain, over all of this time, as far as it was in force.
    bool covers(const Job& job, const Interval& time) const;
    bool may_be_of(const std::string& tenant) const;
    // How often the tenant may have had another quota before.
    std::ptrdiff_t exceptions_before(const Job& job, Time at) const;
    // Names the one of its meters that counts the job.
    std::string meter_of(const Job& job) const;

  private:
    std::vector<Interval> exceptions_of(const std::string& tenant) const;
};

std::vector<LimitVersion> limit_versions(const Evidence& evidence, const Limits& limits);

// When a lease was given and how long it was open, by the clients' clock.
struct Start {
    const Lease* lease = nullptr;
    const Job* job = nullptr;
    Interval commit{};  // it was given within this
    Time open_until{};  // it was open for certain until then
    Time gone_by{};     // it was not open any more for certain
};

// All of them, by the end of `commit`.
std::vector<Start> all_starts(const Evidence& evidence, const Limits& limits);

}  // namespace sluice::checker
