#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "domain/ids.hpp"
#include "domain/sha256.hpp"
#include "domain/time.hpp"

namespace sluice {

// Names what jobs are about: whose it is, of which kind, and which one.
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

// A thing with a state that jobs are about: a site, a release, a deployment. Which states it can
// have, and what leads from one to another, its kind says.
struct Entity {
    EntityKey key;
    std::int64_t number = 0;  // time-ordered and its own, as a job's id; lists are in its order
    std::string parent;       // the id of what it belongs to, such as its app; empty: nothing
    std::string state;
    std::int64_t revision = 0;  // counts its changes, and numbers its events
    Timestamp created_at{};
    Timestamp updated_at{};
    Attributes attributes;
    std::optional<Digest> head{};  // the hash of its last event
    std::optional<Digest> seal{};  // over the whole of it; entity_history.hpp
    bool damaged = false;          // the stored row does not hold what was written there

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
    std::optional<JobId> job{};    // whose start or end it followed
    std::string detail;            // JSON; empty: none
    std::optional<Digest> hash{};  // none: written before there were any
    bool damaged = false;          // the stored row does not hold what was written there

    bool operator==(const EntityEvent&) const = default;
};

// What those who watch an entity are told by; different entities may share one.
JobId watch_id(const EntityKey& key);

}  // namespace sluice
