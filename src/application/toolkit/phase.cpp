#include "application/toolkit/phase.hpp"

#include <fmt/format.h>

namespace sluice {
namespace {

constexpr std::string_view phase_end = ": ";

// A name without the separator that ends it in a job's message: "docker: push" is kept as
// "docker:push".
std::string without_end(std::string name) {
    for (std::size_t at = 0; (at = name.find(phase_end, at)) != std::string::npos;) {
        name.erase(at + 1, phase_end.size() - 1);
    }
    return name;
}

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
    if (phase) {
        std::string name = without_end(*phase);
        if (name != after.name) after = {.name = std::move(name)};
    }
    if (phase_message) after.message = *phase_message;
    return to_text(after);
}

}  // namespace sluice
