#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>

#include "domain/jobs/ids.hpp"
#include "domain/values/sha256.hpp"
#include "domain/values/time.hpp"

namespace sluice {

// The key of an entity: its tenant, its kind and its id.
struct EntityKey {
    std::string tenant = "default";
    std::string kind;
    std::string id;

    auto operator<=>(const EntityKey&) const = default;
};

// "changeset 665a0002aabbccddee000002", for people.
std::string to_text(const EntityKey& key);

// Named values, each as JSON text.
using Attributes = std::map<std::string, std::string, std::less<>>;

// A thing with a state that jobs are about: a site, a release, a deployment. Its kind defines its
// states and the actions between them.
struct Entity {
    EntityKey key;
    std::int64_t number = 0;  // time-ordered and unique, as a job's id; lists are in its order
    std::string parent;       // the id of its parent, such as its app; empty: none
    std::string state;
    std::int64_t revision = 0;  // counts its changes, and numbers its events
    Timestamp created_at{};
    Timestamp updated_at{};
    Attributes attributes;
    std::optional<Digest> head{};  // the hash of its last event
    std::optional<Digest> seal{};  // over the whole row; entity_history.hpp
    bool damaged = false;          // the stored row is not as it was written

    bool operator==(const Entity&) const = default;
};

// One change of an entity. Kept for ever; its number is the entity's revision after it.
struct EntityEvent {
    EntityKey key;
    std::int64_t seq = 0;
    Timestamp at{};
    std::string action;  // created, updated, or an action of its kind
    std::string from;    // states; empty before it was created
    std::string to;
    std::string actor;
    std::optional<JobId> job{};    // that caused it by its start or end
    std::string detail;            // JSON; empty: none
    std::optional<Digest> hash{};  // none: written before there were any
    bool damaged = false;          // the stored row is not as it was written

    bool operator==(const EntityEvent&) const = default;
};

// The id by which watchers of an entity are notified; different entities may share one.
JobId watch_id(const EntityKey& key);

}  // namespace sluice
