#include "client/runner/engine_contact.hpp"

#include <fmt/format.h>

namespace sluice::client {

void EngineContact::failed(Errand errand, const std::string& why) {
    const std::lock_guard lock(mutex_);
    const bool was_well = failing_ == 0;
    failing_ |= errand;
    if (was_well) tell(Level::warn, "calls to the engine fail, trying again: " + why);
}

void EngineContact::answered(Errand errand) {
    const std::lock_guard lock(mutex_);
    const bool was_failing = failing_ != 0;
    failing_ &= ~static_cast<unsigned>(errand);
    if (was_failing && failing_ == 0) tell(Level::info, "the engine answers again");
}

void EngineContact::lease_lost(Attempt& attempt, std::string_view how) const {
    if (!attempt.give_up()) return;
    tell(Level::warn, attempt,
         fmt::format("{}; the job is told to stop, and its outcome is dropped", how));
}

void EngineContact::tell(Level level, const Attempt& attempt, std::string_view what) const {
    if (notice_) notice_(level, fmt::format("job {}: {}", attempt.job().id, what));
}

}  // namespace sluice::client
