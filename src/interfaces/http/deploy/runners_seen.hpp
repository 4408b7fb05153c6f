#pragma once

#include <map>
#include <string>

#include "domain/values/time.hpp"

namespace sluice::http::deploy {

// The time of each runner's last request to this engine. On the I/O thread.
class RunnersSeen {
  public:
    void note(const std::string& runner_id, Timestamp now);

    const std::map<std::string, Timestamp>& all() const { return seen_; }

    static constexpr std::size_t runners_max = 2000;

  private:
    std::map<std::string, Timestamp> seen_;
};

}  // namespace sluice::http::deploy
