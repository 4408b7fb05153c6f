#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "application/apps/app_access.hpp"

// What the rules about apps have in common. For the files of this folder only.
namespace sluice::apps {

// More than an app can have of anything.
inline constexpr int all_of_them = 100'000;

// How long a temp environment may live.
inline constexpr std::int64_t ttl_seconds_min = 60;
inline constexpr std::int64_t ttl_seconds_max = 30 * 24 * 60 * 60;

Error conflict(std::string message);

// How attributes name a caller.
std::string name_of(const Caller& caller);

// An attribute as JSON text; empty when there is none.
std::string_view json_of(const Attributes& attributes, std::string_view name);

// Takes changes over; a null takes an attribute away.
void take_over(Attributes& attributes, const Attributes& changes);

// The entity's kind allows the action in the state in which the entity is.
bool allows(EntityDesk& desk, const Entity& entity, std::string_view action);

NewEntity part_of(const Entity& app, std::string_view kind, Attributes attributes);
EntityKey sibling(const Entity& entity, std::string_view kind, std::string id);

// The app's queued changesets, in the order in which they were queued.
std::vector<Entity> queued_changesets(EntityDesk& desk, const Entity& app);

// ── runtime profiles ──
enum class ProfileUse { environment, temporary };
// Refuses an attribute runtime_profile_id that names none of the app's profiles, or one that is
// made for something else.
std::optional<Error> check_profile(EntityDesk& desk, const Entity& app,
                                   const Attributes& attributes, ProfileUse use);
// The one that the entity's attribute runtime_profile_id names.
std::optional<Entity> profile_of(EntityDesk& desk, const Entity& entity);
// Puts the profile that the entity has, and its present revision, into a job's payload.
void add_profile_of(EntityDesk& desk, const Entity& entity, Attributes& payload);

// ── temp environments ──
// Enqueues what ends the temp environment at this time, and keeps the job as "expire_job_id".
std::optional<Error> enqueue_expiry(EntityDesk& desk, Entity& temp_environment, Timestamp at);

// ── drift ──
// The migrations of the environment's app.
EntityFilter migrations_of(const Entity& environment);
// As fingerprint() and drifted_parts(), with what the desk has changed, and with the profile kept
// from changing.
Attributes fingerprint(EntityDesk& desk, const Entity& environment);
std::vector<std::string> drifted_parts(EntityDesk& desk, const Entity& environment);

// ── what follows from jobs ──
// A job that is about something in an app has ended, and the entity has moved with it: does what
// else follows. Called in the transaction in which the job ended.
void after_job(EntityDesk& desk, const Job& job);

// Has at hand what after_job() asks for, of all of these jobs.
void before_ends(EntityDesk& desk, std::span<const Job* const> ended);

// What the migrations that the job has reported are kept as.
std::vector<EntityKey> reported_migrations(const Job& job, const Attributes& payload);
// Keeps the migrations that the job has reported.
void record_migrations(EntityDesk& desk, const Job& job, const Attributes& payload);

}  // namespace sluice::apps
