#include "application/entities/entity_changes.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "application/entities/own_jobs.hpp"
#include "application/toolkit/names.hpp"
#include "application/toolkit/refused_submits.hpp"
#include "domain/values/check.hpp"
#include "domain/values/suggestion.hpp"
#include "json/json_values.hpp"

namespace sluice {
namespace {

constexpr std::size_t attributes_bytes_max = 256 * 1024;

Error no_such_step(const Entity& entity, const EntityKind& kind, std::string_view action) {
    std::string from;
    for (const EntityTransition& row : kind.transitions) {
        if (row.action != action) continue;
        for (const std::string& state : row.from) from += (from.empty() ? "" : ", ") + state;
    }
    if (from.empty()) {
        return no_such_action(kind, action);
    }
    return {ErrorCode::invalid_transition,
            fmt::format("{} is {}; {} is possible only from {}", to_text(entity.key), entity.state,
                        action, from),
            ""};
}

Error damaged_row(const Entity& entity) {
    return {ErrorCode::conflict,
            fmt::format("the stored row of {} is damaged, so that it cannot be changed: \"sluice "
                        "audit verify\" tells what is wrong; put the row right, or restore it from "
                        "a backup",
                        to_text(entity.key)),
            ""};
}

// A job that checks or moves the entity, with the entity's data that it needs.
NewJob ordered_job(const Entity& entity, const JobOrder& order, const Entity* profile) {
    Attributes payload{{entity.key.kind + "_id", json_string(entity.key.id)}};
    for (const std::string& name : order.carries) {
        const auto value = entity.attributes.find(name);
        if (value != entity.attributes.end()) payload.insert(*value);
    }
    if (profile) add_profile(payload, *profile);
    NewJob job;
    job.type = order.job_type;
    job.payload = to_json(payload);
    return job;
}

}  // namespace

bool is_about(const Entity& entity, const Job& job) {
    return text_of(entity.attributes, "job_id") == to_text(job.spec->id);
}

std::optional<Error> check_size(const Attributes& attributes) {
    std::size_t bytes = 0;
    for (const auto& [name, value] : attributes) bytes += name.size() + value.size();
    if (bytes <= attributes_bytes_max) return std::nullopt;
    return refuse("attributes",
                  fmt::format("have {} bytes; at most {} are allowed", bytes, attributes_bytes_max),
                  ErrorCode::too_large);
}

void add_profile(Attributes& payload, const Entity& profile) {
    payload["runtime_profile_id"] = json_string(profile.key.id);
    const auto copy = [&](const char* from, const char* to) {
        const auto value = profile.attributes.find(from);
        if (value != profile.attributes.end()) payload[to] = value->second;
    };
    copy("kind", "runtime_profile_kind");
    copy("profile_revision", "runtime_profile_revision");
}

std::optional<Entity> EntityChanges::find(const EntityKey& key) {
    const auto changed = changed_.find(key);
    if (changed != changed_.end()) return changed->second;
    const auto found = found_.find(key);
    if (found != found_.end()) return found->second;
    return found_.emplace(key, tx_.entities().find_one(key)).first->second;
}

void EntityChanges::fetch(std::vector<EntityKey> keys) {
    std::sort(keys.begin(), keys.end());
    keys.erase(std::unique(keys.begin(), keys.end()), keys.end());
    std::erase_if(keys, [&](const EntityKey& key) { return found_.contains(key); });
    if (keys.empty()) return;
    std::vector<std::optional<Entity>> found = tx_.entities().find(keys);
    for (std::size_t i = 0; i < keys.size(); ++i) {
        found_.emplace(std::move(keys[i]), std::move(found[i]));
    }
}

EntityChanges::ListName EntityChanges::name_of(const EntityFilter& filter, int limit) {
    return {filter.tenant, filter.kind, filter.parent, filter.states, limit};
}

// A list costs a round trip, and many jobs of a batch ask for the same one.
const std::vector<Entity>& EntityChanges::stored_list(const EntityFilter& filter, int limit) {
    ListName name = name_of(filter, limit);
    const auto known = lists_.find(name);
    if (known != lists_.end()) return known->second;
    auto listed = tx_.reader().entities().list(filter, newest_entity, 0, limit);
    return lists_.emplace(std::move(name), std::move(listed)).first->second;
}

void EntityChanges::fetch_lists(std::span<const EntityFilter> filters, int limit) {
    std::map<ListName, EntityFilter> unknown;
    for (const EntityFilter& filter : filters) {
        ListName name = name_of(filter, limit);
        if (!lists_.contains(name)) unknown.emplace(std::move(name), filter);
    }
    if (unknown.empty()) return;
    std::vector<EntityFilter> wanted;
    for (auto& [name, filter] : unknown) wanted.push_back(std::move(filter));
    auto found = tx_.reader().entities().lists(wanted, limit);
    auto next = found.begin();
    for (const auto& [name, filter] : unknown) lists_.emplace(name, std::move(*next++));
}

std::vector<Entity> EntityChanges::list(const EntityFilter& filter, int limit) {
    std::vector<Entity> found = stored_list(filter, limit);
    std::erase_if(found, [&](const Entity& entity) { return changed_.contains(entity.key); });
    for (const auto& [key, entity] : changed_) {
        if (filter.accepts(entity)) found.push_back(entity);
    }
    std::sort(found.begin(), found.end(),
              [](const Entity& a, const Entity& b) { return a.number > b.number; });
    if (std::ssize(found) > limit) found.resize(static_cast<std::size_t>(limit));
    return found;
}

std::optional<Job> EntityChanges::find_job(JobId id) {
    return tx_.jobs().find_one(id);
}

std::string wrong_kind(const EntityKinds& kinds, std::string_view kind) {
    if (kind.empty() || kinds.find(kind)) return "";
    std::vector<std::string> names;
    for (const auto& [name, known] : kinds.all()) names.push_back(name);
    const std::string* meant = nearest(kind, names);
    return fmt::format("\"{}\" is not a known kind of entity; {}", kind,
                       meant ? fmt::format("did you mean \"{}\"?", *meant)
                             : "check the name, or declare it as [entities.NAME] in the "
                               "configuration");
}

Error no_such_entity(const EntityKinds& kinds, const EntityKey& key) {
    const std::string why = wrong_kind(kinds, key.kind);
    return {ErrorCode::not_found,
            fmt::format("there is no {}{}{}", to_text(key), why.empty() ? "" : ": ", why), ""};
}

Error no_such_action(const EntityKind& kind, std::string_view action) {
    const std::vector<std::string> known = kind.actions();
    return refuse("action", known.empty() ? fmt::format("a {} has no actions, also not \"{}\"",
                                                        kind.name, action)
                                          : fmt::format("a {} has no action \"{}\"; it has {}",
                                                        kind.name, action, fmt::join(known, ", ")));
}

Result<Entity> EntityChanges::create(NewEntity wanted) {
    const EntityKind* kind = rules().kinds.find(wanted.key.kind);
    if (!kind) return refuse("kind", wrong_kind(rules().kinds, wanted.key.kind));
    if (auto refusal = check_name("id", wanted.key.id)) return *std::move(refusal);
    if (auto refusal = check_size(wanted.attributes)) return *std::move(refusal);
    Entity entity;
    entity.number = tx_.next_number();
    entity.key = std::move(wanted.key);
    if (entity.key.id.empty()) entity.key.id = to_text(JobId{entity.number});
    if (find(entity.key)) {
        return Error{ErrorCode::conflict, fmt::format("there is a {} already", to_text(entity.key)),
                     "/id"};
    }
    entity.parent = std::move(wanted.parent);
    entity.state = kind->initial;
    entity.created_at = now();
    entity.attributes = std::move(wanted.attributes);
    note(entity, "created", "", "");
    return entity;
}

bool EntityChanges::is_left_alone(const Entity& entity) {
    if (entity.damaged && !refusal_) refusal_ = damaged_row(entity);
    return entity.damaged;
}

void EntityChanges::note(Entity& entity, std::string_view action, std::string from,
                         std::string detail) {
    ++entity.revision;
    entity.updated_at = now();
    events_.push_back({.key = entity.key,
                       .seq = entity.revision,
                       .at = now(),
                       .action = std::string(action),
                       .from = std::move(from),
                       .to = entity.state,
                       .actor = actor_,
                       .job = cause_,
                       .detail = std::move(detail)});
    changed_[entity.key] = entity;
}

std::optional<Error> EntityChanges::act(Entity& entity, std::string_view action,
                                        std::string detail) {
    const EntityKind* kind = rules().kinds.find(entity.key.kind);
    check(kind != nullptr, "an entity's kind is known");
    if (is_left_alone(entity)) return refusal_;
    if (!kind->next_state(entity.state, action)) return no_such_step(entity, *kind, action);
    if (auto refusal = check_size(entity.attributes)) return refusal;
    if (const auto closed = closed_gate(checks_, looks_, entity, *kind, action)) {
        return gate_refusal(*closed);
    }
    if (auto refusal = order_jobs(entity, *kind, action)) return refusal;
    move(entity, action, std::move(detail));
    return std::nullopt;
}

bool EntityChanges::move(Entity& entity, std::string_view action, std::string detail) {
    const EntityKind* kind = rules().kinds.find(entity.key.kind);
    check(kind != nullptr, "an entity's kind is known");
    const auto next = kind->next_state(entity.state, action);
    if (!next || is_left_alone(entity)) return false;
    std::string from = std::exchange(entity.state, *next);
    note(entity, action, std::move(from), std::move(detail));
    return true;
}

void EntityChanges::save(Entity& entity, std::string_view action, std::string detail) {
    if (!is_left_alone(entity)) note(entity, action, entity.state, std::move(detail));
}

void EntityChanges::touch(Entity& entity) {
    if (is_left_alone(entity)) return;
    entity.updated_at = now();
    changed_[entity.key] = entity;
}

std::optional<Error> EntityChanges::order_jobs(Entity& entity, const EntityKind& kind,
                                               std::string_view action) {
    const std::size_t before = submits_.size();
    const Attributes attributes_before = entity.attributes;
    std::vector<std::string> ids;
    for (const JobOrder& order : kind.orders) {
        if (order.action != action) continue;
        const ProfileChoice choice = choice_in_app(looks_, entity, kind, order.profiles);
        const std::vector<Entity> profiles = profiles_for(looks_, entity, choice);
        for (std::size_t i = 0; i < std::max<std::size_t>(profiles.size(), 1); ++i) {
            const Entity* profile = profiles.empty() ? nullptr : &profiles[i];
            auto id = submit_for(entity, ordered_job(entity, order, profile));
            if (!id) {
                submits_.resize(before);
                entity.attributes = attributes_before;
                return id.error();
            }
            ids.push_back(to_text(*id));
        }
    }
    if (!ids.empty()) entity.attributes["job_id"] = json_string(ids.front());
    if (ids.size() > 1) entity.attributes["job_ids"] = json_list(ids);
    return std::nullopt;
}

Result<JobId> EntityChanges::submit(NewJob wanted) {
    auto spec = make_job(std::move(wanted), rules().types, now());
    if (!spec) return spec.error();
    spec->id = tx_.next_job_id();
    const JobId id = spec->id;
    submits_.push_back(*std::move(spec));
    return id;
}

Result<JobId> EntityChanges::submit_for(Entity& entity, NewJob wanted) {
    wanted.tenant = entity.key.tenant;
    wanted.project = entity.parent;
    wanted.entity_type = entity.key.kind;
    wanted.entity_id = entity.key.id;
    auto id = submit(std::move(wanted));
    if (id) entity.attributes["job_id"] = json_string(to_text(*id));
    return id;
}

std::optional<Error> EntityChanges::refused_submit() {
    for (const JobSpec& spec : submits_) {
        if (auto refusal = sluice::refused_submit(*limit_rules(), spec.tenant, now())) {
            return refusal;
        }
    }
    return std::nullopt;
}

void EntityChanges::apply() {
    std::vector<Entity> entities;
    entities.reserve(changed_.size());
    for (auto& [key, entity] : changed_) entities.push_back(std::move(entity));
    changed_.clear();
    tx_.write(std::move(entities), std::exchange(events_, {}));
    if (submits_.empty()) return;
    for (Job& job : submit_own(tx_, submits_, actor_)) submitted_.push_back(std::move(job));
    submits_.clear();
}

// ── looks(): reads without locks ──

const std::optional<Entity>* EntityChanges::Looks::known(const EntityKey& key) const {
    const auto found = changes_.found_.find(key);
    if (found != changes_.found_.end()) return &found->second;
    const auto seen = seen_.find(key);
    return seen == seen_.end() ? nullptr : &seen->second;
}

std::vector<std::optional<Entity>> EntityChanges::Looks::find(std::span<const EntityKey> keys) {
    std::vector<EntityKey> missing;
    for (const EntityKey& key : keys) {
        if (!changes_.changed_.contains(key) && !known(key)) missing.push_back(key);
    }
    if (!missing.empty()) {
        std::vector<std::optional<Entity>> read = store().find(missing);
        for (std::size_t i = 0; i < missing.size(); ++i) {
            seen_.emplace(std::move(missing[i]), std::move(read[i]));
        }
    }
    std::vector<std::optional<Entity>> entities;
    entities.reserve(keys.size());
    for (const EntityKey& key : keys) {
        const auto changed = changes_.changed_.find(key);
        const bool is_changed = changed != changes_.changed_.end();
        entities.push_back(is_changed ? std::optional(changed->second) : *known(key));
    }
    return entities;
}

std::vector<Entity> EntityChanges::Looks::list(const EntityFilter& filter, std::int64_t before,
                                               std::int64_t offset, int limit) {
    if (before == newest_entity && offset == 0) return changes_.list(filter, limit);
    return store().list(filter, before, offset, limit);
}

std::vector<std::vector<Entity>> EntityChanges::Looks::lists(std::span<const EntityFilter> filters,
                                                             int limit) {
    changes_.fetch_lists(filters, limit);
    return EntityReader::lists(filters, limit);
}

std::int64_t EntityChanges::Looks::count(const EntityFilter& filter) {
    return store().count(filter);
}

std::vector<EntityEvent> EntityChanges::Looks::events(const EntityKey& key, std::int64_t after,
                                                      int limit) {
    return store().events(key, after, limit);
}

}  // namespace sluice
