#pragma once

#include <map>
#include <vector>

#include "checker/limit_versions.hpp"

namespace sluice::checker {

using Intervals = std::vector<Interval>;

// When limits may have held jobs back: at all other times they certainly did not.
class Closings {
  public:
    Closings(const Evidence& evidence, const Limits& limits);

    const std::vector<LimitVersion>& versions() const { return versions_; }

    // Of this job before it was first taken: its own starts do not count. In no order.
    const Intervals& of(const Job& job);

  private:
    Intervals by(const LimitVersion& version, const Job& job) const;

    Span clocks_;
    std::vector<LimitVersion> versions_;
    std::vector<Start> starts_;
    std::map<const Job*, Intervals> known_{};
};

}  // namespace sluice::checker
