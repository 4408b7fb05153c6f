#pragma once

#include <map>
#include <span>
#include <string>

#include "application/ports/commands.hpp"

namespace sluice {

// The rules about what may run in the text format of Prometheus: of some rules, so that the number
// of series is bounded, and how many rules are left out. Rules for which jobs wait come first. Not
// thread-safe.
class LimitMetrics {
  public:
    static constexpr std::size_t rules_max = 100;

    // The figures of the rules in force at `now`. A rule counts as closed from one call to the next
    // if the first of the two has found it closed.
    std::string text(const LimitsNow& limits, Timestamp now);

  private:
    struct Closed {
        Duration total{};
        bool is_closed = false;  // at the last call
    };
    void count_closed(std::span<const RuleUse> uses, Timestamp now);
    std::string closed_seconds(const std::string& rule) const;

    std::map<std::string, Closed> closed_;  // by the ids of rules that were closed
    Timestamp looked_at_{};
};

}  // namespace sluice
