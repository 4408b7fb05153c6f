#pragma once

#include <optional>
#include <string>

namespace sluice {

// What a runner said in its heartbeats. It is kept as the job's message, "BUILD: compiling", which
// is also what people see elsewhere.
struct Phase {
    std::string name{};
    std::string message{};
};
Phase phase_in(const std::string& job_message);
std::string to_text(const Phase& phase);

// The job's message after a heartbeat that said this; a new phase begins without a message.
std::string message_after(const std::string& job_message, const std::optional<std::string>& phase,
                          const std::optional<std::string>& phase_message);

}  // namespace sluice
