#include <fmt/format.h>
#include <fmt/ranges.h>

#include <set>

#include "application/apps/app_changes.hpp"
#include "application/apps/app_parts.hpp"
#include "application/toolkit/names.hpp"
#include "json/json_values.hpp"

// A release names its changesets by "changeset_ids", a changeset its release by "release_id". A
// changeset that leaves the queue may stay in the first, never in the second, and is then left out
// by the next assembly.
namespace sluice::apps {
namespace {

struct FoundRelease {
    Entity app;
    Entity release;
};
Result<FoundRelease> find_release(EntityChanges& changes, const Caller& caller,
                                  const std::string& app_id, const std::string& id) {
    auto app = find_app(changes, caller, app_id, Role::config_manager);
    if (!app) return app.error();
    auto release = find_in_app(changes, *app, "release", id);
    if (!release) return release.error();
    return FoundRelease{*std::move(app), *std::move(release)};
}

bool is_unfinished(const Entity& release) {
    return release.state == "draft_release" || release.state == "assembling" ||
           release.state == "validated";
}

bool is_in(const Entity& changeset, const Entity& release) {
    return text_of(changeset.attributes, "release_id") == release.key.id;
}

// The id of another release that has the changeset and is not published yet.
std::optional<std::string> promised_elsewhere(EntityChanges& changes, const Entity& changeset,
                                              const Entity& release) {
    auto id = text_of(changeset.attributes, "release_id");
    if (!id || *id == release.key.id) return std::nullopt;
    const auto other = changes.find(sibling(changeset, "release", *id));
    return other && is_unfinished(*other) ? id : std::nullopt;
}

// Reads and locks all of these changesets.
void fetch_changesets(EntityChanges& changes, const Entity& release,
                      const std::vector<std::string>& ids) {
    std::vector<EntityKey> keys;
    for (const std::string& id : ids) keys.push_back(sibling(release, "changeset", id));
    changes.fetch(std::move(keys));
}

std::vector<EntityKey> keys_of(const std::vector<Entity>& listed) {
    std::vector<EntityKey> keys;
    for (const Entity& entity : listed) keys.push_back(entity.key);
    return keys;
}

// Reads and locks the releases that these changesets are in.
void fetch_releases_of(EntityChanges& changes, const std::vector<EntityKey>& changesets) {
    std::vector<EntityKey> keys;
    for (const EntityKey& key : changesets) {
        const auto changeset = changes.find(key);
        if (!changeset) continue;
        if (auto id = text_of(changeset->attributes, "release_id")) {
            keys.push_back(sibling(*changeset, "release", *std::move(id)));
        }
    }
    changes.fetch(std::move(keys));
}

void take_in(EntityChanges& changes, Entity& changeset, const Entity& release) {
    if (is_in(changeset, release)) return;
    changeset.attributes["release_id"] = json_string(release.key.id);
    changes.save(changeset);
}

// Takes a changeset that the client has named.
std::optional<Error> take_named(EntityChanges& changes, const Entity& app, const Entity& release,
                                const std::string& id, std::size_t index) {
    auto changeset = find_in_app(changes, app, "changeset", id);
    if (!changeset) {
        return refuse(fmt::format("changeset_ids/{}", index), changeset.error().message);
    }
    if (changeset->state != "queued") {
        return conflict(
            fmt::format("changeset {} is {}; a release takes queued ones", id, changeset->state));
    }
    if (const auto other = promised_elsewhere(changes, *changeset, release)) {
        return conflict(fmt::format("changeset {} is in release {} already", id, *other));
    }
    take_in(changes, *changeset, release);
    return std::nullopt;
}

// Takes every queued changeset that no other release has.
std::vector<std::string> take_all_queued(EntityChanges& changes, const Entity& app,
                                         const Entity& release) {
    std::vector<std::string> taken;
    const std::vector<Entity> queued = queued_changesets(changes, app);
    changes.fetch(keys_of(queued));
    fetch_releases_of(changes, keys_of(queued));
    for (const Entity& listed : queued) {
        auto changeset = changes.find(listed.key);
        if (!changeset || changeset->state != "queued") continue;
        if (promised_elsewhere(changes, *changeset, release)) continue;
        take_in(changes, *changeset, release);
        taken.push_back(changeset->key.id);
    }
    return taken;
}

// Those of the release's changesets that are still queued for it.
std::vector<std::string> still_queued(EntityChanges& changes, const Entity& release) {
    std::vector<std::string> ids = texts_of(release.attributes, "changeset_ids");
    fetch_changesets(changes, release, ids);
    std::erase_if(ids, [&](const std::string& id) {
        const auto changeset = changes.find(sibling(release, "changeset", id));
        return !changeset || changeset->state != "queued" || !is_in(*changeset, release);
    });
    return ids;
}

std::optional<Error> release_changesets(EntityChanges& changes, const Entity& release,
                                        std::vector<Entity>& released) {
    const std::vector<std::string> ids = texts_of(release.attributes, "changeset_ids");
    fetch_changesets(changes, release, ids);
    for (const std::string& id : ids) {
        auto changeset = changes.find(sibling(release, "changeset", id));
        if (!changeset || changeset->state != "queued" || !is_in(*changeset, release)) {
            return conflict(fmt::format("changeset {} of the release is {}: assemble it again", id,
                                        changeset ? changeset->state : "gone"));
        }
        changeset->attributes.erase("queue_position");
        if (auto refusal = changes.act(*changeset, "release")) return refusal;
        released.push_back(*std::move(changeset));
    }
    return std::nullopt;
}

// Changesets that are still queued were checked against the app as it was before the release.
std::optional<Error> revalidate_queued(EntityChanges& changes, const Entity& app,
                                       const Entity& release) {
    const std::vector<Entity> queued = queued_changesets(changes, app);
    changes.fetch(keys_of(queued));
    for (const Entity& listed : queued) {
        auto changeset = changes.find(listed.key);
        if (!changeset || changeset->state != "queued") continue;
        Attributes payload{{"changeset_id", json_string(changeset->key.id)},
                           {"release_id", json_string(release.key.id)}};
        const std::string_view head_sha = json_of(changeset->attributes, "head_sha");
        if (!head_sha.empty()) payload["head_sha"] = head_sha;
        add_profile_of(changes, *changeset, payload);
        const auto job = changes.submit_for(
            *changeset, {.type = "revalidate_queued_changeset", .payload = to_json(payload)});
        if (!job) return job.error();
        changes.save(*changeset, "revalidating");
    }
    return std::nullopt;
}

}  // namespace

Result<EntityAnswer> create_release(EntityChanges& changes, const Caller& caller,
                                    const std::string& app_id, Attributes attributes,
                                    const std::vector<std::string>& changesets) {
    const auto app = find_app(changes, caller, app_id, Role::config_manager);
    if (!app) return app.error();
    if (std::set(changesets.begin(), changesets.end()).size() < changesets.size()) {
        return refuse("changeset_ids", "names a changeset twice");
    }
    attributes["changeset_ids"] = json_list(changesets);
    attributes["takes_all_queued"] = changesets.empty() ? "true" : "false";
    const auto release = changes.create(part_of(*app, "release", std::move(attributes)));
    if (!release) return release.error();
    for (std::size_t i = 0; i < changesets.size(); ++i) {
        if (auto refusal = take_named(changes, *app, *release, changesets[i], i)) return *refusal;
    }
    return EntityAnswer{.entity = *release};
}

Result<EntityAnswer> assemble_release(EntityChanges& changes, const Caller& caller,
                                      const std::string& app_id, const std::string& id) {
    auto found = find_release(changes, caller, app_id, id);
    if (!found) return found.error();
    auto& [app, release] = *found;
    const std::string before(json_of(release.attributes, "changeset_ids"));
    const std::vector<std::string> ids =
        truth_of(release.attributes, "takes_all_queued").value_or(false)
            ? take_all_queued(changes, app, release)
            : still_queued(changes, release);
    if (ids.empty() && allows(changes, release, "assemble")) {
        return conflict("there is no queued changeset that the release could take");
    }
    release.attributes["changeset_ids"] = json_list(ids);
    release.attributes.erase("head_sha");
    const std::string detail = to_json({{"changeset_ids", json_list(ids)}, {"before", before}});
    if (auto refusal = changes.act(release, "assemble", detail)) return *refusal;
    // Checks of an earlier assembly do not count for this one.
    release.attributes["assembly_id"] = release.attributes["job_id"];
    changes.touch(release);
    return EntityAnswer{.entity = release};
}

Result<EntityAnswer> publish_release(EntityChanges& changes, const Caller& caller,
                                     const std::string& app_id, const std::string& id) {
    auto found = find_release(changes, caller, app_id, id);
    if (!found) return found.error();
    auto& [app, release] = *found;
    if (auto refusal = changes.act(release, "publish")) return *refusal;
    EntityAnswer answer{.entity = release};
    if (auto refusal = release_changesets(changes, release, answer.others)) return *refusal;
    if (auto refusal = revalidate_queued(changes, app, release)) return *refusal;
    return answer;
}

Result<EntityAnswer> roll_back_release(EntityChanges& changes, const Caller& caller,
                                       const std::string& app_id, const std::string& id) {
    auto found = find_release(changes, caller, app_id, id);
    if (!found) return found.error();
    if (auto refusal = changes.act(found->release, "roll_back")) return *refusal;
    return EntityAnswer{.entity = found->release};
}

}  // namespace sluice::apps
