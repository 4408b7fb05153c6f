#include "sluice/job.hpp"

#include <array>

namespace sluice::client {
namespace {

constexpr auto states = std::to_array<std::pair<State, std::string_view>>({
    {State::queued, "queued"},
    {State::running, "running"},
    {State::succeeded, "succeeded"},
    {State::failed, "failed"},
    {State::canceled, "canceled"},
    {State::timed_out, "timed_out"},
});

}  // namespace

std::string_view to_text(State state) {
    for (const auto& [value, name] : states) {
        if (value == state) return name;
    }
    return "unknown";
}

std::optional<State> parse_state(std::string_view text) {
    for (const auto& [value, name] : states) {
        if (name == text) return value;
    }
    return std::nullopt;
}

std::string_view to_text(OnDependencyFailure choice) {
    return choice == OnDependencyFailure::run ? "run" : "cancel";
}

std::optional<OnDependencyFailure> parse_on_dependency_failure(std::string_view text) {
    for (const auto choice : {OnDependencyFailure::cancel, OnDependencyFailure::run}) {
        if (to_text(choice) == text) return choice;
    }
    return std::nullopt;
}

std::string_view to_text(Level level) {
    switch (level) {
        case Level::info: return "info";
        case Level::warn: return "warn";
        case Level::error: return "error";
    }
    return "info";
}

}  // namespace sluice::client
