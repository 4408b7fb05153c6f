#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "application/entities/entity_changes.hpp"
#include "application/ports/commands.hpp"
#include "application/toolkit/names.hpp"

// Changes of the rules about what may run. Each call is the `decide` of a ChangeLimits: it decides
// all, or refuses and has changed nothing. Each rule or profile that is changed has an event of its
// own in the control history.
namespace sluice {

// The author of a change, and why it is made. Without a ticket a rule keeps the one that it has; an
// empty one removes it.
struct ChangeReason {
    std::string actor{};
    std::string reason{};
    std::optional<std::string> ticket{};
};

namespace limits {
inline constexpr std::int64_t sources_of_tenant = 10'000;
inline constexpr std::int64_t rules = 50'000;
inline constexpr std::size_t tenants_of_profile = 10'000;
}  // namespace limits

// What is wrong with a rule by itself, with the pointer to the field as in requests; nothing: it is
// sound. Pure.
std::optional<Error> check_rule(const LimitRule& rule, Timestamp now);
std::optional<Error> check_reason(const ChangeReason& why);

// Whether the rule only pauses: it bounds nothing beside that.
bool is_pause(const LimitRule& rule);

// Adds a rule, or replaces the one with rule.id. A quota for a tenant or profile and a job type
// that have one is a conflict, and so is a name that a rule of this kind, or one from the
// configuration, has. A reason is required. A change that changes nothing leaves the rule and the
// history as they are.
Result<LimitAnswer> put_rule(EntityChanges& changes, LimitRule rule, const ChangeReason& why);

// Ends a rule. One that has ended is answered as it is.
Result<LimitAnswer> lift_rule(EntityChanges& changes, const std::string& id,
                              const ChangeReason& why);

// Refuses to change a rule or profile of this revision, for a caller that has seen another one.
// Nothing: there is none in force.
using CheckRevision = std::function<std::optional<Error>(std::optional<std::int64_t> revision)>;

// What is wrong with the tenants of a profile, with the pointer to the field; nothing: they are
// sound, and sorted now. Pure.
std::optional<Error> check_profile_tenants(std::vector<std::string>& tenants);

// Sets the tenants of a profile; none: the profile is removed.
Result<LimitAnswer> put_profile(EntityChanges& changes, const std::string& name,
                                std::vector<std::string> tenants, const ChangeReason& why,
                                const CheckRevision& check_revision = {});

// The rules of a configuration. Each rule has a name, which is unique there.
struct ConfiguredLimits {
    std::int64_t revision = 0;  // 0: the configuration says nothing about rules
    std::vector<LimitRule> rules{};
    LimitRules::Profiles profiles{};

    Digest digest() const;
};

// Makes the stored rules from a configuration these. At a higher revision they are replaced: rules
// and profiles of the former one that are not among these end. At a lower one, or at 0, they stay,
// with a warning. An equal one must have the same digest: else a conflict. Rules that were made by
// hand stay, but for a quota that one of these replaces. The revision is the reason of each change.
Result<LimitAnswer> configure_limits(EntityChanges& changes, const ConfiguredLimits& wanted);

}  // namespace sluice
