#pragma once

#include <optional>
#include <string>

namespace sluice {

// The phase and message of a runner's heartbeats. They are kept as the job's message, "BUILD:
// compiling", which people also see elsewhere.
struct Phase {
    std::string name{};
    std::string message{};
};
Phase phase_in(const std::string& job_message);
std::string to_text(const Phase& phase);

// The job's message after this heartbeat; a new phase begins without a message.
std::string message_after(const std::string& job_message, const std::optional<std::string>& phase,
                          const std::optional<std::string>& phase_message);

}  // namespace sluice
