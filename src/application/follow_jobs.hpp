#pragma once

#include <span>

#include "application/transaction.hpp"
#include "domain/result.hpp"

namespace sluice {

// Exclusive keys that begin so are the engine's own: the client did not ask for them and is not
// shown them.
inline constexpr std::string_view own_key_prefix = "@entity:";

// Entities that move with jobs, in the transaction in which the jobs move.

// What stands in the way of the job's start, if anything; otherwise its entities have moved.
std::optional<Error> follow_start(Transaction& tx, const Job& job);

// The jobs have ended for good: moves their entities and does what follows from that.
void follow_ends(Transaction& tx, std::span<const Job> ended);

// Refuses a job that could not start now because what it is about has failed, unless it is the
// engine's own. Gives it the exclusive key of what moves with it.
std::optional<Error> prepare_to_follow(Transaction& tx, JobSpec& spec, bool is_own);

}  // namespace sluice
