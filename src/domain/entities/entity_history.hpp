#pragma once

#include "domain/entities/entity.hpp"
#include "domain/values/sha256.hpp"

// An entity's events form a chain as a job's do (history.hpp): each hash covers the event and the
// hash before it. The entity's own row has the last hash, and a seal over that and over the entity
// as it is now. Rows that were written before there were hashes have none.
namespace sluice {

// The value that the first event with a hash is chained to.
Digest genesis(const Entity& entity);

// The hash of `event` after an event whose hash is `previous`.
Digest chain_hash(const Digest& previous, const EntityEvent& event);

// Covers the entity as it is now: its parent, state, revision, updated_at, attributes and head.
Digest seal_of(const Entity& entity);

}  // namespace sluice
