#pragma once

#include "domain/entity.hpp"
#include "domain/sha256.hpp"

// An entity's events form a chain as a job's do (history.hpp): each hash covers the event and the
// hash before it. The entity's own row has the last hash, and a seal over that and over all that
// the row tells. Rows that were written before there were hashes have none.
namespace sluice {

// What the first event with a hash is chained to.
Digest genesis(const Entity& entity);

// The hash of `event` after an event whose hash is `previous`.
Digest chain_hash(const Digest& previous, const EntityEvent& event);

// Covers the entity as it is now: its place, state, revision, time and attributes, and its head.
Digest seal_of(const Entity& entity);

}  // namespace sluice
