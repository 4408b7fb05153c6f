#include <fmt/format.h>

#include "application/apps/app_parts.hpp"
#include "application/toolkit/names.hpp"
#include "json/json_reader.hpp"
#include "json/json_values.hpp"

namespace sluice::apps {
namespace {

struct ReportedMigration {
    std::string id;
    std::string status;
};

// The migrations in the job's result; entries that are not of the form {"id","status"} are left
// out.
std::vector<ReportedMigration> reported(const Job& job) {
    std::vector<ReportedMigration> migrations;
    const Attributes result = json_members(job.now.result);
    JsonReader reader(json_of(result, "migrations"));
    if (reader.kind() != JsonReader::Kind::array) return migrations;
    reader.array([&](std::size_t) {
        const Attributes members = json_members(reader.raw());
        const std::string id = text_of(members, "id").value_or("");
        const std::string status = text_of(members, "status").value_or("");
        if (id.empty() || status.empty() || check_name("id", id)) return;
        if (check_name("status", status)) return;
        migrations.push_back({id, status});
    });
    return migrations;
}

// The id of the environment or temp environment in which the job has run migrations.
std::string env_id_of(const Job& job, const Attributes& payload) {
    if (auto id = text_of(payload, "environment_id")) return *id;
    return job.spec->entity_id;
}

// The profile that the job's payload names.
Attributes profile_in(const Attributes& payload) {
    Attributes profile{{"profile_revision", "0"}};
    if (const auto id = text_of(payload, "runtime_profile_id")) {
        profile["profile_id"] = json_string(*id);
        const auto revision = integer_of(payload, "runtime_profile_revision");
        profile["profile_revision"] = std::to_string(revision.value_or(0));
    }
    return profile;
}

void put(EntityChanges& changes, const EntityKey& key, const std::string& app_id,
         Attributes attributes) {
    auto migration = changes.find(key);
    if (migration && migration->parent != app_id) return;  // of an environment of another app
    if (migration) {
        migration->attributes = std::move(attributes);
        changes.save(*migration, "reported");
        return;
    }
    // A migration whose name is too long together with the environment's is not kept; the job's
    // result has it.
    (void)changes.create({.key = key, .parent = app_id, .attributes = std::move(attributes)});
}

EntityKey key_of(const Job& job, const Attributes& payload, const std::string& id) {
    const Attributes profile = profile_in(payload);
    return {
        job.spec->tenant, "migration",
        fmt::format("{}:{}:{}", env_id_of(job, payload), json_of(profile, "profile_revision"), id)};
}

}  // namespace

std::vector<EntityKey> reported_migrations(const Job& job, const Attributes& payload) {
    std::vector<EntityKey> keys;
    for (const auto& migration : reported(job)) keys.push_back(key_of(job, payload, migration.id));
    return keys;
}

void record_migrations(EntityChanges& changes, const Job& job, const Attributes& payload) {
    const std::vector<ReportedMigration> migrations = reported(job);
    if (migrations.empty()) return;
    if (!changes.looks().find_one({job.spec->tenant, "app", job.spec->project})) return;
    const Attributes profile = profile_in(payload);
    for (const auto& [id, status] : migrations) {
        Attributes attributes{{"environment_id", json_string(env_id_of(job, payload))},
                              {"migration_id", json_string(id)},
                              {"status", json_string(status)},
                              {"at", json_time(changes.now())},
                              {"job_id", json_string(to_text(job.spec->id))}};
        attributes.insert(profile.begin(), profile.end());
        put(changes, key_of(job, payload, id), job.spec->project, std::move(attributes));
    }
}

}  // namespace sluice::apps
