#pragma once

#include <span>

#include "application/transaction.hpp"
#include "domain/result.hpp"

namespace sluice {

// Exclusive keys that begin so are the engine's own: the client did not ask for them and is not
// shown them.
inline constexpr std::string_view own_key_prefix = "@entity:";

// Entities that move with jobs, in the transaction in which the jobs move.

// The entities that the start or the end of a job may move, as far as the job names them.
void add_followed(const Rules& rules, const JobSpec& job, std::vector<EntityKey>& keys);

// For each of these jobs, which were just claimed, what stands in the way of its start, if
// anything; otherwise its entities have moved. A damaged job moves none. The entities of all of
// them are read and written together.
std::vector<std::optional<Error>> follow_starts(Transaction& tx, std::span<const Job* const> jobs);

// The jobs have ended for good: moves their entities and does what follows from that. The entities
// of all of them are read and written together.
void follow_ends(Transaction& tx, std::span<const Job> ended);

// Refuses a job that could not start now because what it is about has failed, unless it is the
// engine's own. Gives it the exclusive key of what moves with it.
std::optional<Error> prepare_to_follow(const Rules& rules, EntityReader& entities, JobSpec& spec,
                                       bool is_own);

}  // namespace sluice
