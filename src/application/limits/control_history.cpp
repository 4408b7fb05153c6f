#include "application/limits/control_history.hpp"

#include <algorithm>

#include "application/limits/stored_rules.hpp"
#include "json/json_values.hpp"
#include "json/json_writer.hpp"

namespace sluice {
namespace {

std::string text_or_null(const Attributes* attributes) {
    return attributes ? to_json(*attributes) : "null";
}

void add_reason(Attributes& detail, const ChangeReason& why) {
    if (!why.reason.empty()) detail["reason"] = json_string(why.reason);
    if (why.ticket && !why.ticket->empty()) detail["ticket"] = json_string(*why.ticket);
}

constexpr std::size_t differences_noted = 200;

}  // namespace

std::optional<Error> note_change(EntityChanges& changes, const ControlChange& change,
                                 const ChangeReason& why) {
    Attributes detail{{change.subject, json_string(change.id)},
                      {"before", text_or_null(change.before)},
                      {"after", text_or_null(change.after)}};
    add_reason(detail, why);
    return note_control(changes, change.action, to_json(detail));
}

// Of very many differences the first are listed: an event has a bounded size.
std::optional<Error> note_repair(EntityChanges& changes, const MeterDifferences& differences,
                                 const ChangeReason& why) {
    std::string list;
    JsonWriter json(list);
    json.begin_array();
    for (std::size_t i = 0; i < std::min(differences.size(), differences_noted); ++i) {
        const MeterDifference& difference = differences[i];
        json.begin_object();
        json.field("rule", difference.rule);
        json.text_or_null("meter", difference.meter);
        json.field("counted", difference.counted);
        json.field("leased", difference.leased);
        json.end_object();
    }
    json.end_array();
    Attributes detail{{"differences", list},
                      {"difference_count", std::to_string(differences.size())}};
    add_reason(detail, why);
    return note_control(changes, meters_repaired, to_json(detail));
}

std::optional<Error> note_control(EntityChanges& changes, std::string_view action,
                                  std::string detail, Attributes attributes) {
    std::optional<Entity> control = changes.find(control_key());
    if (!control) {
        auto created = changes.create({.key = control_key()});
        if (!created) return created.error();
        control = *std::move(created);
    }
    for (auto& [name, value] : attributes) control->attributes[name] = value;
    changes.save(*control, action, std::move(detail));
    return changes.refusal();
}

}  // namespace sluice
