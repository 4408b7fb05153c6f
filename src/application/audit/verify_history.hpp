#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "application/ports/job_reader.hpp"

namespace sluice {

struct HistoryBreak {
    JobId job{};
    std::int64_t seq = 0;  // the event at which the chain breaks; 0: the job or entity itself
    std::string what{};
    std::optional<EntityKey> entity{};  // instead of a job
};
// "job 6afa…" or "site s1 of tenant acme", for people.
std::string subject_of(const HistoryBreak& found);

struct Verification {
    std::int64_t jobs = 0;
    std::int64_t events = 0;  // of jobs
    std::int64_t entities = 0;
    std::int64_t entity_events = 0;
    // Jobs and entities whose histories began before everything was covered: their log lines are
    // only counted, and their first events have no hashes.
    std::int64_t partly_covered = 0;
    std::vector<HistoryBreak> breaks{};  // the first one of each, breaks_max at the most

    std::optional<HistoryBreak> first_break() const {
        return breaks.empty() ? std::nullopt : std::optional(breaks.front());
    }
};

// Walks one job's history: its payload, its events' numbers, their hashes, their steps, its log
// lines, and its state.
std::optional<HistoryBreak> verify_job(JobReader& reader, const Job& job, std::int64_t& events);

// Walks one entity's history: its events' numbers, states and hashes, and its seal. `covered`: each
// of its events has a hash; events of an earlier version have none.
std::optional<HistoryBreak> verify_entity(EntityReader& reader, const Entity& entity,
                                          std::int64_t& events, bool& covered);

// Walks every job and every entity of the store; stops when so many are broken.
inline constexpr std::size_t breaks_max = 100;
Verification verify_history(JobReader& reader);

}  // namespace sluice
