#include <algorithm>
#include <array>

#include "application/apps/app_changes.hpp"
#include "application/apps/app_parts.hpp"
#include "application/secrets/secret_marks.hpp"
#include "application/toolkit/names.hpp"
#include "domain/values/sha256.hpp"
#include "json/json_reader.hpp"
#include "json/json_values.hpp"

namespace sluice::apps {
namespace {

constexpr int first_revision = 1;

// The same value in one spelling: keys in order, no space, no needless escapes.
std::string canonical(JsonReader& reader) {
    switch (reader.kind()) {
        case JsonReader::Kind::object: {
            Attributes members;
            reader.object([&](std::string_view key) { members.emplace(key, canonical(reader)); });
            return to_json(members);
        }
        case JsonReader::Kind::array: {
            std::string out = "[";
            reader.array([&](std::size_t index) {
                if (index > 0) out.push_back(',');
                out += canonical(reader);
            });
            return out + "]";
        }
        case JsonReader::Kind::string: return json_string(reader.string());
        default: return std::string(reader.raw());
    }
}

// Brings the parts of a profile that are objects into one spelling.
std::optional<Error> settle_objects(Attributes& attributes) {
    for (const char* name : {"env_vars", "secrets", "database"}) {
        const auto found = attributes.find(name);
        if (found == attributes.end() || found->second == "null") continue;
        JsonReader reader(found->second);
        if (reader.kind() != JsonReader::Kind::object) return refuse(name, "must be an object");
        std::string settled = canonical(reader);
        if (auto done = reader.finish(); !done) {
            return refuse(name + done.error().pointer, done.error().message);
        }
        found->second = std::move(settled);
    }
    return std::nullopt;
}

// Callers see "***" instead of a value whose name marks it as a secret. A caller that sends it back
// means the present value.
Result<std::string> with_kept_secrets(const std::string& pointer, const std::string& value,
                                      const std::string& before) {
    if (value == json_string(secret_stand_in)) {
        if (!before.empty()) return before;
        return refuse(pointer, "stands for a secret that is not here; send its value");
    }
    if (!value.starts_with('{')) return value;
    Attributes members = json_members(value);
    const Attributes members_before = json_members(before);
    for (auto& [name, member] : members) {
        const auto known = members_before.find(name);
        auto kept = with_kept_secrets(pointer + '/' + name, member,
                                      known == members_before.end() ? "" : known->second);
        if (!kept) return kept.error();
        member = *std::move(kept);
    }
    return to_json(members);
}

std::optional<Error> keep_secrets(Attributes& attributes, const Attributes& before) {
    for (const char* name : {"env_vars", "database"}) {
        const auto found = attributes.find(name);
        if (found == attributes.end()) continue;
        const auto known = before.find(name);
        auto kept =
            with_kept_secrets(name, found->second, known == before.end() ? "" : known->second);
        if (!kept) return kept.error();
        found->second = *std::move(kept);
    }
    return std::nullopt;
}

// Secrets are kept as digests, from which they cannot be read. The digest includes the profile's
// id, so that two profiles with the same secret have different digests.
Result<std::string> sealed(const std::string& profile_id, std::string_view secrets) {
    Attributes kept;
    for (const auto& [name, value] : json_members(secrets)) {
        const auto text = text_of({{name, value}}, name);
        if (!text) return refuse("secrets/" + name, "must be a text");
        const std::string salt = profile_id + '\n' + name + '\n';
        kept[name] = to_json({{"sha256", json_string(to_hex(sha256(salt + *text)))}});
    }
    return to_json(kept);
}

std::optional<Error> check_kind(const Attributes& attributes) {
    const std::string kind = text_of(attributes, "kind").value_or("");
    if (kind == "persistent_env" || kind == "temp_workspace" || kind == "temp_changeset") {
        return std::nullopt;
    }
    return refuse("kind", "must be persistent_env, temp_workspace or temp_changeset");
}

bool differs_in_runtime(const Attributes& before, const Attributes& after) {
    constexpr auto parts =
        std::to_array<std::string_view>({"env_vars", "secrets", "url", "database"});
    return std::any_of(parts.begin(), parts.end(), [&](std::string_view part) {
        return json_of(before, part) != json_of(after, part);
    });
}

}  // namespace

Result<EntityAnswer> create_profile(EntityChanges& changes, const Caller& caller,
                                    const std::string& app_id, Attributes attributes) {
    const auto app = find_app(changes, caller, app_id, Role::config_manager);
    if (!app) return app.error();
    if (auto refusal = check_kind(attributes)) return *refusal;
    if (auto refusal = settle_objects(attributes)) return *refusal;
    if (auto refusal = keep_secrets(attributes, {})) return *refusal;
    attributes["profile_revision"] = std::to_string(first_revision);
    const auto secrets = attributes.extract("secrets");
    auto profile = changes.create(part_of(*app, "runtime_profile", std::move(attributes)));
    if (!profile) return profile.error();
    if (secrets) {
        auto kept = sealed(profile->key.id, secrets.mapped());
        if (!kept) return kept.error();
        profile->attributes["secrets"] = *std::move(kept);
        changes.save(*profile, "secrets_sealed");
    }
    return EntityAnswer{.entity = *profile};
}

Result<EntityAnswer> update_profile(EntityChanges& changes, const Caller& caller,
                                    const std::string& app_id, const std::string& id,
                                    const Attributes& wanted) {
    const auto app = find_app(changes, caller, app_id, Role::config_manager);
    if (!app) return app.error();
    auto profile = find_in_app(changes, *app, "runtime_profile", id);
    if (!profile) return profile.error();
    if (wanted.contains("kind") &&
        json_of(wanted, "kind") != json_of(profile->attributes, "kind")) {
        return refuse("kind", "cannot change: environments rely on it");
    }
    Attributes settled = wanted;
    if (auto refusal = settle_objects(settled)) return *refusal;
    if (auto refusal = keep_secrets(settled, profile->attributes)) return *refusal;
    if (const auto secrets = settled.find("secrets");
        secrets != settled.end() && secrets->second != "null") {
        auto kept = sealed(profile->key.id, secrets->second);
        if (!kept) return kept.error();
        secrets->second = *std::move(kept);
    }
    const Attributes before = profile->attributes;
    take_over(profile->attributes, settled);
    if (differs_in_runtime(before, profile->attributes)) {
        const auto revision = integer_of(before, "profile_revision").value_or(0);
        profile->attributes["profile_revision"] = std::to_string(revision + 1);
    }
    changes.save(*profile);
    return EntityAnswer{.entity = *profile};
}

}  // namespace sluice::apps
