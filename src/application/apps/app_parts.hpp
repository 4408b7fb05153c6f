#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "application/apps/app_access.hpp"

// Shared by the rules about apps. For the files of this folder only.
namespace sluice::apps {

// More entities of a kind than an app can have.
inline constexpr int all_of_them = 100'000;

// How long a temp environment may live.
inline constexpr std::int64_t ttl_seconds_min = 60;
inline constexpr std::int64_t ttl_seconds_max = 30 * 24 * 60 * 60;

Error conflict(std::string message);

// The caller's name in attributes.
std::string name_of(const Caller& caller);

// An attribute as JSON text; empty when there is none.
std::string_view json_of(const Attributes& attributes, std::string_view name);

// Applies changes; a null removes an attribute.
void take_over(Attributes& attributes, const Attributes& wanted);

// Whether the entity's kind allows the action in its present state.
bool allows(EntityChanges& changes, const Entity& entity, std::string_view action);

NewEntity part_of(const Entity& app, std::string_view kind, Attributes attributes);
EntityKey sibling(const Entity& entity, std::string_view kind, std::string id);

// The app's queued changesets, in the order in which they were queued.
std::vector<Entity> queued_changesets(EntityChanges& changes, const Entity& app);

// ── runtime profiles ──
enum class ProfileUse { environment, temporary };
// Refuses an attribute runtime_profile_id that names no profile of the app, or one that is made for
// another use.
std::optional<Error> check_profile(EntityChanges& changes, const Entity& app,
                                   const Attributes& attributes, ProfileUse use);
// The profile that the entity's attribute runtime_profile_id names.
std::optional<Entity> profile_of(EntityChanges& changes, const Entity& entity);
// Puts the profile that the entity has, and its present revision, into a job's payload.
void add_profile_of(EntityChanges& changes, const Entity& entity, Attributes& payload);

// ── temp environments ──

// Enqueues the job that ends the temp environment at this time, and keeps its id as
// "expire_job_id".
std::optional<Error> enqueue_expiry(EntityChanges& changes, Entity& temp_environment, Timestamp at);

// ── drift ──

// The migrations of the environment's app.
EntityFilter migrations_of(const Entity& environment);
// As fingerprint() and drifted_parts(), including the changes that were made here; locks the
// profile.
Attributes fingerprint(EntityChanges& changes, const Entity& environment);
std::vector<std::string> drifted_parts(EntityChanges& changes, const Entity& environment);

// ── consequences of jobs ──

// A job about an entity of an app has ended, and the entity has moved with it: makes the changes
// that follow. Called in the transaction in which the job ended.
void after_job(EntityChanges& changes, const Job& job);

// Reads the data that after_job() needs, for all of these jobs.
void before_ends(EntityChanges& changes, std::span<const Job* const> ended);

// The keys under which the migrations are kept that the job has reported.
std::vector<EntityKey> reported_migrations(const Job& job, const Attributes& payload);
// Keeps the migrations that the job has reported.
void record_migrations(EntityChanges& changes, const Job& job, const Attributes& payload);

}  // namespace sluice::apps
