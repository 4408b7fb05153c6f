#pragma once

#include <string>
#include <vector>

#include "interfaces/cli/framework/session.hpp"
#include "interfaces/cli/terminal/json_object.hpp"

// The history of rules: who changed which, and what of it.
namespace sluice::cli {

// All events, the oldest first.
std::vector<std::string> control_history(client::Client& client);

// The event with fields of its own: "id" of the rule, "rule" in words, "name" of it, "what" was
// done ("added", "paused", "lifted"), "change" of its parts ("max_active 8 -> 16"), and "subject",
// "reason" and "ticket" of the change.
std::string with_change(const std::string& event);

// Whether such an event is about the rule that the word stands for: the beginning of its id, or its
// name.
bool is_about(const JsonObject& event, const std::string& word);

// "quota for tenant acme, type scan"; with a name: "limit smtp".
std::string rule_title(const JsonObject& rule);

}  // namespace sluice::cli
