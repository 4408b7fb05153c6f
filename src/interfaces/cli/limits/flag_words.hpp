#pragma once

#include <string>
#include <string_view>

#include "interfaces/cli/framework/session.hpp"

// The engine names members of the request; a person at the command line knows flags.
namespace sluice::cli {

// The engine's refusal in the words of the command line. `pointer`: to the member that it is about,
// or empty; the message begins with it. `argument`: the member that is an argument of the command,
// and no flag.
std::string in_flag_words(const std::string& pointer, const std::string& message,
                          std::string_view argument = {});

// A call about rules; what the engine refuses is said in the words of the command line.
std::string call_limits(Session& session, const std::string& method, const std::string& path,
                        const std::string& body, bool repeatable, std::string_view argument = {},
                        const client::Headers& headers = {});

}  // namespace sluice::cli
