#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "application/ports/job_reader.hpp"

namespace sluice {

struct HistoryBreak {
    JobId job;
    std::int64_t seq = 0;  // the event at which the chain breaks; 0: the job itself
    std::string what;
};

struct Verification {
    std::int64_t jobs = 0;
    std::int64_t events = 0;
    std::vector<HistoryBreak> breaks{};  // the first one of each job, breaks_max at the most

    std::optional<HistoryBreak> first_break() const {
        return breaks.empty() ? std::nullopt : std::optional(breaks.front());
    }
};

// Walks one job's history: its payload, its events' numbers, their hashes, their steps, and its
// state.
std::optional<HistoryBreak> verify_job(JobReader& reader, const Job& job, std::int64_t& events);

// Walks every job of the store in order; stops when so many jobs are broken.
inline constexpr std::size_t breaks_max = 100;
Verification verify_history(JobReader& reader);

}  // namespace sluice
