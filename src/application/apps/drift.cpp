#include <algorithm>
#include <set>

#include "application/apps/app_changes.hpp"
#include "application/apps/app_parts.hpp"
#include "domain/values/sha256.hpp"
#include "json/json_values.hpp"

namespace sluice::apps {
namespace {

// The ids of the migrations that were applied in the environment under any revision of its profile:
// a database keeps them when its settings change. The latest report counts.
std::vector<std::string> applied(std::vector<Entity> migrations, const Entity& environment) {
    std::sort(migrations.begin(), migrations.end(), [](const Entity& a, const Entity& b) {
        return std::pair(time_of(a.attributes, "at"), a.number) <
               std::pair(time_of(b.attributes, "at"), b.number);
    });
    std::set<std::string> ids;
    for (const Entity& migration : migrations) {
        if (text_of(migration.attributes, "environment_id") != environment.key.id) continue;
        const std::string id = text_of(migration.attributes, "migration_id").value_or("");
        if (text_of(migration.attributes, "status") == "applied") {
            ids.insert(id);
        } else {
            ids.erase(id);
        }
    }
    return {ids.begin(), ids.end()};
}

Attributes digests(const Attributes& profile, const std::vector<std::string>& migrations) {
    Attributes parts;
    for (const char* part : {"env_vars", "secrets", "url", "database"}) {
        parts[part] = json_string(to_hex(sha256(json_of(profile, part))));
    }
    parts["migrations"] = json_string(to_hex(sha256(json_list(migrations))));
    return parts;
}

std::vector<std::string> differences(const Entity& environment, const Attributes& now) {
    std::vector<std::string> parts;
    const std::string_view validated = json_of(environment.attributes, "validated");
    if (validated.empty()) return parts;
    const Attributes before = json_members(validated);
    for (const auto& [part, digest] : now) {
        if (json_of(before, part) != digest) parts.push_back(part);
    }
    return parts;
}

}  // namespace

EntityFilter migrations_of(const Entity& environment) {
    return {.tenant = environment.key.tenant, .kind = "migration", .parent = environment.parent};
}

Attributes fingerprint(EntityReader& entities, const Entity& environment) {
    const auto id = text_of(environment.attributes, "runtime_profile_id");
    const auto profile =
        id ? entities.find_one(sibling(environment, "runtime_profile", *id)) : std::nullopt;
    auto migrations = entities.list(migrations_of(environment), newest_entity, 0, all_of_them);
    return digests(profile ? profile->attributes : Attributes{},
                   applied(std::move(migrations), environment));
}

Attributes fingerprint(EntityChanges& changes, const Entity& environment) {
    const auto profile = profile_of(changes, environment);
    return digests(profile ? profile->attributes : Attributes{},
                   applied(changes.list(migrations_of(environment), all_of_them), environment));
}

std::vector<std::string> drifted_parts(EntityReader& entities, const Entity& environment) {
    return differences(environment, fingerprint(entities, environment));
}

std::vector<std::string> drifted_parts(EntityChanges& changes, const Entity& environment) {
    return differences(environment, fingerprint(changes, environment));
}

}  // namespace sluice::apps
