#pragma once

#include <string>
#include <vector>

#include "application/apps/app_access.hpp"
#include "application/ports/commands.hpp"

// Requests of clients about an app and its entities. Each call is one EntityAction: it decides all,
// or refuses and has changed nothing. EntityAnswer::entity is the entity that was made or changed,
// and EntityAnswer::jobs the jobs that were enqueued for it.
namespace sluice::apps {

// ── the app itself ──

// The caller becomes its first app_admin. `attributes`: name, and settings of the app:
//   approvals_required  1 or more
//   gates               {"submit":"temp","publish":"environments","deploy":"target"}, each one of
//                       none, temp, environments, target
Result<EntityAnswer> create_app(EntityChanges& changes, const Caller& caller, std::string id,
                                Attributes attributes);
Result<EntityAnswer> update_app(EntityChanges& changes, const Caller& caller,
                                const std::string& app,
                                const Attributes& wanted);  // app_admin
Result<EntityAnswer> put_member(EntityChanges& changes, const Caller& caller,
                                const std::string& app, const std::string& user,
                                Role role);  // app_admin

// ── changesets ──

// `attributes`: title, description, head_sha, base_sha, runtime_profile_id
Result<EntityAnswer> create_changeset(EntityChanges& changes, const Caller& caller,
                                      const std::string& app, Attributes attributes);
// draft → submitted, with the head_sha frozen (`head_sha`: replaces the one it has; may be empty)
Result<EntityAnswer> submit_changeset(EntityChanges& changes, const Caller& caller,
                                      const std::string& app, const std::string& id,
                                      const std::string& head_sha);
// → submitted with a new head_sha; approvals are reset
Result<EntityAnswer> resubmit_changeset(EntityChanges& changes, const Caller& caller,
                                        const std::string& app, const std::string& id,
                                        const std::string& head_sha);
enum class Decision { approve, request_changes, reject };
// reviewer or above, never the author. Asks the gate msuite_submit when it leaves `submitted`.
Result<EntityAnswer> review_changeset(EntityChanges& changes, const Caller& caller,
                                      const std::string& app, const std::string& id,
                                      Decision decision, const std::string& comment);
// approved → queued; config_manager or above; asks the gate
Result<EntityAnswer> queue_changeset(EntityChanges& changes, const Caller& caller,
                                     const std::string& app, const std::string& id);
Result<EntityAnswer> move_changeset_to_draft(EntityChanges& changes, const Caller& caller,
                                             const std::string& app, const std::string& id);

// ── releases; config_manager or above ──

// `changesets`: those that it takes, which must be queued; empty: its assembly takes all queued
// ones
Result<EntityAnswer> create_release(EntityChanges& changes, const Caller& caller,
                                    const std::string& app, Attributes attributes,
                                    const std::vector<std::string>& changesets);
Result<EntityAnswer> assemble_release(EntityChanges& changes, const Caller& caller,
                                      const std::string& app, const std::string& id);
// Its changesets become released; each changeset that is still queued is revalidated, in queue
// order.
Result<EntityAnswer> publish_release(EntityChanges& changes, const Caller& caller,
                                     const std::string& app, const std::string& id);
Result<EntityAnswer> roll_back_release(EntityChanges& changes, const Caller& caller,
                                       const std::string& app, const std::string& id);

// ── environments, deployments, profiles; config_manager or above ──

// `attributes`: name, runtime_profile_id
Result<EntityAnswer> create_environment(EntityChanges& changes, const Caller& caller,
                                        const std::string& app, Attributes attributes);
Result<EntityAnswer> update_environment(EntityChanges& changes, const Caller& caller,
                                        const std::string& app, const std::string& id,
                                        const Attributes& wanted);
// The answer's entity is the deployment, and its attribute job_id the deploy_release job.
Result<EntityAnswer> deploy_release(EntityChanges& changes, const Caller& caller,
                                    const std::string& app, const std::string& environment,
                                    const std::string& release);
// Enqueues a runtime_profile_drift_check of the environment as it is now.
Result<EntityAnswer> check_drift(EntityChanges& changes, const Caller& caller,
                                 const std::string& app, const std::string& environment);
// `attributes`: name, kind (persistent_env, temp_workspace, temp_changeset), env_vars {}, secrets
// {}, url, database {}. Secrets are kept as digests only.
Result<EntityAnswer> create_profile(EntityChanges& changes, const Caller& caller,
                                    const std::string& app, Attributes attributes);
Result<EntityAnswer> update_profile(EntityChanges& changes, const Caller& caller,
                                    const std::string& app, const std::string& id,
                                    const Attributes& wanted);

// ── temp environments ──

// `attributes`: name, runtime_profile_id, changeset_id, ttl_seconds
Result<EntityAnswer> create_temp_environment(EntityChanges& changes, const Caller& caller,
                                             const std::string& app, Attributes attributes);
// Expires it now rather than at its time.
Result<EntityAnswer> expire_temp_environment(EntityChanges& changes, const Caller& caller,
                                             const std::string& app, const std::string& id);

// ── drift ──

// The data that a deployment to the environment depends on, part by part: digests of env_vars,
// secrets, url, database and migrations. Kept as the attribute "validated" of the environment when
// a check of it has succeeded.
Attributes fingerprint(EntityReader& entities, const Entity& environment);
// The parts in which the environment differs from the validated fingerprint; none when it was never
// validated.
std::vector<std::string> drifted_parts(EntityReader& entities, const Entity& environment);

}  // namespace sluice::apps
