#pragma once

#include <span>

#include "application/toolkit/transaction.hpp"
#include "domain/values/result.hpp"

namespace sluice {

// Entities that move with jobs, in the transaction in which the jobs move.

// The entities that the start or the end of a job may move, as far as the job names them.
void add_followed(const Rules& rules, const JobSpec& job, std::vector<EntityKey>& keys);

// For each of these jobs, which were just claimed, the error that prevents its start, if any;
// otherwise its entities have moved. A damaged job moves none. The entities of all jobs are read
// and written together.
std::vector<std::optional<Error>> follow_starts(Transaction& tx, std::span<const Job* const> jobs);

// The jobs have ended for good: moves their entities and takes the actions that follow. The
// entities of all jobs are read and written together.
void follow_ends(Transaction& tx, std::span<const Job> ended);

// Refuses a job that could not start now because its entity has failed, unless it is the engine's
// own. Gives it the exclusive key of the entity that moves with it.
std::optional<Error> prepare_to_follow(const Rules& rules, EntityReader& entities, JobSpec& spec,
                                       bool is_own);

}  // namespace sluice
