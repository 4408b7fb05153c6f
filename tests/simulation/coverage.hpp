#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "domain/jobs/job_state.hpp"
#include "domain/values/result.hpp"

namespace sluice::simulation {

// How often each event happened that a simulation is meant to cause: steps of jobs, refusals,
// answers that never came, faults. The list is fixed: every event that happens must be on it, and
// every one on it must happen.
class Coverage {
  public:
    Coverage();

    void step(std::optional<JobState> from, Step step, std::optional<JobState> to);
    void refusal(std::string_view command, ErrorCode code);
    void no_answer(std::string_view command);
    void fault(std::string_view what);
    void removal(JobState outcome);
    void kept(std::string_view what);        // a job old enough to be removed, and needed
    void chain(std::string_view what);       // a hash that was computed anew, and is right
    void rule(std::string_view shape);       // one about what may run came into force
    void verdict(std::string_view code);     // by which rules held a job back
    void permit_back(std::string_view way);  // with its lease

    void add(const Coverage& other);

    std::uint64_t faults() const;
    std::vector<std::string> never_hit() const;
    std::string table() const;

  private:
    void hit(const std::string& row);

    std::map<std::string, std::uint64_t> rows_;
};

}  // namespace sluice::simulation
