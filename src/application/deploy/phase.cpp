#include "application/deploy/phase.hpp"

#include <fmt/format.h>

namespace sluice::deploy {
namespace {

constexpr std::string_view phase_end = ": ";

}  // namespace

Phase phase_in(const std::string& job_message) {
    const std::size_t end = job_message.find(phase_end);
    if (end == std::string::npos) return {.name = job_message};
    return {.name = job_message.substr(0, end),
            .message = job_message.substr(end + phase_end.size())};
}

std::string to_text(const Phase& phase) {
    if (phase.message.empty()) return phase.name;
    return fmt::format("{}{}{}", phase.name, phase_end, phase.message);
}

std::string message_after(const std::string& job_message, const std::optional<std::string>& phase,
                          const std::optional<std::string>& phase_message) {
    Phase after = phase_in(job_message);
    if (phase && *phase != after.name) after = {.name = *phase};
    if (phase_message) after.message = *phase_message;
    return to_text(after);
}

}  // namespace sluice::deploy
