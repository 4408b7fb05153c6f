#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "application/entities/entity_changes.hpp"
#include "application/limits/change_limits.hpp"

// The control history: what was changed of the rules, by whom and what for. With each event the
// rules get another version.
namespace sluice {

// One change of one subject.
struct ControlChange {
    std::string_view action{};     // "rule_added"…
    const char* subject = "rule";  // or "profile"
    std::string id{};              // of the subject
    const Attributes* before{};    // nothing: there was none in force
    const Attributes* after{};     // nothing: there is none in force
};
std::optional<Error> note_change(EntityChanges& changes, const ControlChange& change,
                                 const ChangeReason& why);

// An event about no single subject. The attributes are kept with the history.
std::optional<Error> note_control(EntityChanges& changes, std::string_view action,
                                  std::string detail, Attributes attributes = {});

// The repair of meters, which changes no rule.
inline constexpr std::string_view meters_repaired = "meters_repaired";
std::optional<Error> note_repair(EntityChanges& changes, const MeterDifferences& differences,
                                 const ChangeReason& why);

}  // namespace sluice
