#pragma once

#include <map>
#include <mutex>
#include <string>
#include <utility>

#include "application/ports/limit_store.hpp"

namespace sluice::postgres {

// What was counted of a source in one hour since 1970.
struct SourceHour {
    std::pair<std::string, std::string> source{};  // tenant and source
    std::int64_t hour = 0;

    auto operator<=>(const SourceHour&) const = default;
};
using CountedSources = std::map<SourceHour, SourceCount>;

void add(CountedSources& sum, const SourceHour& hour, const SourceCount& count);
void add(CountedSources& sum, const CountedSources& more);

// What this node has counted of sources and not written yet: it is written once a second, so that a
// job of a source costs no more than another one. Thread-safe.
class SourceCounts {
  public:
    void add(const CountedSources& counted, Timestamp now);

    // When they are to be written, or `never`.
    Timestamp due() const;
    CountedSources take();

    CountedSources get() const;

  private:
    mutable std::mutex mutex_;
    CountedSources counted_;
    Timestamp due_ = never;
};

inline constexpr Duration sources_written_every = std::chrono::seconds(1);

}  // namespace sluice::postgres
