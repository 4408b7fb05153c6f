#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "domain/limits/limit_rule.hpp"
#include "domain/limits/meter.hpp"

namespace sluice {

// Names one meter of a rule, on every node alike: a hash of the rule's id and of the values by
// which it counts apart.
using MeterId = std::int64_t;

// What a lane needs of one rule.
struct Permit {
    const LimitRule* rule = nullptr;
    MeterId meter = 0;

    bool operator==(const Permit&) const = default;
};

// What a lane that the rule covers needs of it.
Permit permit_of(const LimitRule& rule, const Lane& lane);

// "tenant acme, type scan", or empty for the one meter of a rule that counts nothing apart.
std::string meter_name(const LimitRule& rule, const Lane& lane);

// All rules that are in force, as one value that never changes: a change of a rule makes another
// one. What a lease holds is not stored anywhere: it is what these rules say of its lane.
class LimitRules {
  public:
    // The tenants of a profile, by its name.
    using Profiles = std::map<std::string, std::vector<std::string>>;

    LimitRules() = default;
    LimitRules(std::int64_t version, std::vector<LimitRule> rules, Profiles profiles);
    LimitRules(const LimitRules&) = delete;
    LimitRules& operator=(const LimitRules&) = delete;

    static const std::shared_ptr<const LimitRules>& none();

    // A later change has a larger version.
    std::int64_t version() const { return version_; }
    const std::vector<LimitRule>& all() const { return rules_; }
    const Profiles& profiles() const { return profiles_; }
    bool empty() const { return rules_.empty(); }
    const LimitRule* find(std::string_view id) const;
    // Whether the rule may hold back jobs of the tenant: it covers the tenant, which has its
    // profile.
    bool is_about(const LimitRule& rule, std::string_view tenant) const;
    // Whether a rule is about this source of the tenant, by its name and not by a beginning of it.
    bool names_source(std::string_view tenant, std::string_view source) const;

    // The permits that a job of this lane needs, in the order in which they are named to people:
    // maintenance first, limits last. Of the quotas of one job type a tenant has one: its own, or
    // that of its profile, or the default.
    std::vector<Permit> permits_of(const Lane& lane) const;

    // The rule that refuses submits for this tenant now, if any; of several the one that does so
    // for the longest time.
    const LimitRule* refuses_submits(std::string_view tenant, Timestamp now) const;
    // The same of rules that halt all work for this tenant now because of maintenance.
    const LimitRule* maintenance(std::string_view tenant, Timestamp now) const;

  private:
    template <class Wanted>
    const LimitRule* longest_halt(std::string_view tenant, Timestamp now, Wanted&& wanted) const;
    const LimitRule* quota_for(std::string_view tenant, std::string_view type) const;
    void add_quotas(const Lane& lane, std::vector<Permit>& permits) const;

    std::int64_t version_ = 0;
    std::vector<LimitRule> rules_;  // in the order of permits_of()
    std::unordered_map<std::string_view, const LimitRule*> by_id_;
    Profiles profiles_;
    std::map<std::string, std::set<std::string, std::less<>>, std::less<>> profiles_of_tenant_;
    // Rules that are no quotas: those that name their tenant, by it, and all others.
    std::map<std::string, std::vector<const LimitRule*>, std::less<>> by_tenant_;
    std::vector<const LimitRule*> general_;
    // Quotas by job type, and then by tenant, or by profile after an "@", or "" for the default.
    std::map<std::string, std::map<std::string, const LimitRule*, std::less<>>, std::less<>>
        quotas_;
};

// The rules were replaced: the bucket of a meter of this rule follows its rate.
void follow_rate(std::string_view rule, const LimitRules& before, const LimitRules& after,
                 MeterState& meter, Timestamp now);

// One rule that does not permit a start now.
struct ClosedPermit {
    const LimitRule* rule = nullptr;
    std::string meter{};  // its name, for people
    MeterState state{};
    Room room{};
};

// How many jobs of a lane may start now: the least that any of its permits allows. `meters` are
// those of the permits, in their order.
struct Admission {
    std::int64_t count = unbounded;
    std::size_t closed_by = 0;     // if count is 0: the index of the first closed permit
    Timestamp look_again = never;  // if count is 0: when this may change by time alone
};
Admission admission_of(std::span<const Permit> permits, std::span<const MeterState* const> meters,
                       Timestamp now);

// Every permit that holds the lane back now, for explain and its like.
std::vector<ClosedPermit> closed_permits(const Lane& lane, std::span<const Permit> permits,
                                         std::span<const MeterState> meters, Timestamp now);

// When a job behind these permits may start at the earliest, if that is known.
std::optional<Timestamp> next_eligible_at(std::span<const ClosedPermit> closed);

// "quota", "rate_limit", "paused", "throttle", "limit", "maintenance" or "tenant_blocked".
std::string_view code_of(const ClosedPermit& closed);

// Whom something is told. A caller of one tenant does not learn what others use.
enum class Viewer { any_tenant, one_tenant };

// Whether each meter of the rule counts jobs of one tenant only.
bool counts_one_tenant(const LimitRule& rule);

// For people: what is closed with its numbers, whose rule it is, and what would open it.
std::string text_of(const ClosedPermit& closed, Viewer viewer = Viewer::any_tenant);

// "quota 5f… for tenant acme", for people.
std::string describe(const LimitRule& rule);

}  // namespace sluice
