#pragma once

#include <string>

#include "interfaces/cli/framework/session.hpp"
#include "interfaces/cli/limits/rule_flags.hpp"

// The rule that a command is about.
namespace sluice::cli {

// The id of the rule that the word stands for: its id, the beginning of it, or its name. `path`:
// the collection. May ask the engine.
std::string find_rule_id(Session& session, const std::string& path, const std::string& word);

// The rule at this path, which `word` stands for, unless that is empty. When there is no such rule
// any more, the refusal says that it was lifted.
std::string get_rule(Session& session, const std::string& path, const std::string& word);

// Changes it, by the action if there is one, as it is now, or as --if-revision says. When somebody
// else changes it first, the change is refused (conflict).
std::string post_rule(Session& session, const ChangeFlags& flags, const std::string& path,
                      const std::string& action, const std::string& body, const std::string& word);

}  // namespace sluice::cli
