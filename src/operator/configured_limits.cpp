#include "operator/configured_limits.hpp"

#include <fmt/format.h>

#include <optional>
#include <stdexcept>
#include <utility>

#include "application/engine/engine.hpp"
#include "infrastructure/system/log.hpp"

namespace sluice {
namespace {

void tell(const ConfiguredLimits& wanted, const LimitAnswer& answer) {
    for (const std::string& warning : answer.warnings) log::warn(warning);
    if (answer.rules.empty() && answer.profiles.empty()) return;
    log::info("the rules of the configuration are in force",
              fmt::format(R"("revision":{},"rules":{})", wanted.revision, wanted.rules.size()));
}

}  // namespace

Announcement apply_configured_limits(const ConfiguredLimits& wanted, Store& store,
                                     const Rules& rules, Clock& clock) {
    std::optional<Result<LimitAnswer>> answer;
    PendingOf<ChangeLimits> pending;
    pending.items.push_back(
        {.decide = [&](EntityChanges& changes) { return configure_limits(changes, wanted); }});
    pending.done = [&](auto answers) { answer.emplace(std::move(answers.front())); };
    Batch batch;
    batch.of<ChangeLimits>().push_back(std::move(pending));
    Engine engine(store, {.sweeps = false, .rules = &rules, .clock = &clock});
    Engine::Ran ran = engine.run(batch, clock.now());
    batch.deliver();
    if (!*answer) throw std::runtime_error("[governance]: " + answer->error().message);
    tell(wanted, **answer);
    return std::move(ran.news);
}

}  // namespace sluice
