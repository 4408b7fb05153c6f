#include "infrastructure/postgres/cluster/known_sources.hpp"

#include <algorithm>

#include "application/limits/change_limits.hpp"

namespace sluice::postgres {
namespace {

using namespace std::chrono_literals;

// So many names are kept at the most; they can be read again.
constexpr std::size_t names_max = 200'000;
constexpr std::size_t counts_max = 20'000;
// Other nodes do not add as many as there is room above this number while a count is believed.
constexpr std::int64_t many_sources = limits::sources_of_tenant * 9 / 10;
constexpr Duration belief_in_few = 1min;
// Room comes back when sources are forgotten, once an hour.
constexpr Duration belief_in_too_many = 10s;

}  // namespace

bool KnownSources::has(const Name& source) const {
    const std::lock_guard lock(mutex_);
    return sources_.contains(source);
}

void KnownSources::found(const Name& source) {
    const std::lock_guard lock(mutex_);
    if (sources_.size() >= names_max) sources_.clear();
    sources_.try_emplace(source);
}

void KnownSources::forget(const Name& source) {
    const std::lock_guard lock(mutex_);
    sources_.erase(source);
    counts_.erase(source.first);
}

std::optional<std::int64_t> KnownSources::count(const std::string& tenant, Timestamp now) const {
    const std::lock_guard lock(mutex_);
    const auto found = counts_.find(tenant);
    if (found == counts_.end()) return std::nullopt;
    const auto& [sources, at] = found->second;
    if (sources >= many_sources && sources < limits::sources_of_tenant) return std::nullopt;
    const Duration belief = sources < many_sources ? belief_in_few : belief_in_too_many;
    return now < at + belief ? std::optional(sources) : std::nullopt;
}

void KnownSources::counted(const std::string& tenant, std::int64_t count, Timestamp now) {
    const std::lock_guard lock(mutex_);
    if (counts_.size() >= counts_max) counts_.clear();
    counts_[tenant] = {count, now};
}

void KnownSources::written(const Name& source, std::optional<Timestamp> last_job_at) {
    const std::lock_guard lock(mutex_);
    if (sources_.size() >= names_max) sources_.clear();
    const auto [known, is_new] = sources_.try_emplace(source);
    if (last_job_at) known->second = std::max(known->second, *last_job_at);
    const auto count = counts_.find(source.first);
    if (is_new && count != counts_.end()) ++count->second.sources;
}

bool KnownSources::must_write(const Name& source, std::optional<Timestamp> last_job_at) const {
    const std::lock_guard lock(mutex_);
    const auto known = sources_.find(source);
    return known == sources_.end() || (last_job_at && *last_job_at >= known->second + 1s);
}

}  // namespace sluice::postgres
