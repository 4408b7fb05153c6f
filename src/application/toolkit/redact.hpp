#pragma once

#include <optional>

#include "application/ports/commands.hpp"
#include "application/toolkit/rules.hpp"

namespace sluice {

// A worker's message about its job, without the secrets of the job's payload and those of the
// engine itself; nothing when it has no secrets, and can be taken as it is.
std::optional<Report> without_secrets(const Report& report, const Rules& rules,
                                      const JobSpec& spec);
std::optional<HandBack> without_secrets(const HandBack& hand_back, const Rules& rules,
                                        const JobSpec& spec);
std::optional<Heartbeat> without_secrets(const Heartbeat& heartbeat, const Rules& rules,
                                         const JobSpec& spec);
std::optional<AppendLogs> without_secrets(const AppendLogs& batch, const Rules& rules,
                                          const JobSpec& spec);

}  // namespace sluice
