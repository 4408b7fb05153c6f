#pragma once

#include <string>
#include <vector>

#include "application/apps/app_access.hpp"
#include "application/commands.hpp"

// What clients do to an app and to what belongs to it. Each call is one EntityAction: it decides
// all or refuses and has changed nothing. EntityAnswer::entity is what was made or changed, and
// EntityAnswer::jobs what was enqueued for it.
namespace sluice::apps {

// ── the app itself ──
// The caller becomes its first app_admin. `attributes`: name, and settings of the app:
//   approvals_required  1 or more
//   gates               {"submit":"temp","publish":"environments","deploy":"target"}, each one of
//                       none, temp, environments, target
Result<EntityAnswer> create_app(EntityDesk& desk, const Caller& caller, std::string id,
                                Attributes attributes);
Result<EntityAnswer> update_app(EntityDesk& desk, const Caller& caller, const std::string& app,
                                const Attributes& changes);  // app_admin
Result<EntityAnswer> put_member(EntityDesk& desk, const Caller& caller, const std::string& app,
                                const std::string& user, Role role);  // app_admin

// ── changesets ──
// `attributes`: title, description, head_sha, base_sha, runtime_profile_id
Result<EntityAnswer> create_changeset(EntityDesk& desk, const Caller& caller,
                                      const std::string& app, Attributes attributes);
// draft → submitted, with the head_sha frozen (`head_sha`: in place of the one it has; may be
// empty)
Result<EntityAnswer> submit_changeset(EntityDesk& desk, const Caller& caller,
                                      const std::string& app, const std::string& id,
                                      const std::string& head_sha);
// → submitted with a new head_sha; approvals are reset
Result<EntityAnswer> resubmit_changeset(EntityDesk& desk, const Caller& caller,
                                        const std::string& app, const std::string& id,
                                        const std::string& head_sha);
enum class Decision { approve, request_changes, reject };
// reviewer or above, never the author. Asks the gate msuite_submit when it leaves `submitted`.
Result<EntityAnswer> review_changeset(EntityDesk& desk, const Caller& caller,
                                      const std::string& app, const std::string& id,
                                      Decision decision, const std::string& comment);
// approved → queued; config_manager or above; asks the gate
Result<EntityAnswer> queue_changeset(EntityDesk& desk, const Caller& caller, const std::string& app,
                                     const std::string& id);
Result<EntityAnswer> move_changeset_to_draft(EntityDesk& desk, const Caller& caller,
                                             const std::string& app, const std::string& id);

// ── releases; config_manager or above ──
// `changesets`: those that it takes, which are queued; empty: at its assembly all that are
Result<EntityAnswer> create_release(EntityDesk& desk, const Caller& caller, const std::string& app,
                                    Attributes attributes,
                                    const std::vector<std::string>& changesets);
Result<EntityAnswer> assemble_release(EntityDesk& desk, const Caller& caller,
                                      const std::string& app, const std::string& id);
// Its changesets become released; each one that is still queued gets its revalidation, in queue
// order.
Result<EntityAnswer> publish_release(EntityDesk& desk, const Caller& caller, const std::string& app,
                                     const std::string& id);
Result<EntityAnswer> roll_back_release(EntityDesk& desk, const Caller& caller,
                                       const std::string& app, const std::string& id);

// ── environments, deployments, profiles; config_manager or above ──
// `attributes`: name, runtime_profile_id
Result<EntityAnswer> create_environment(EntityDesk& desk, const Caller& caller,
                                        const std::string& app, Attributes attributes);
Result<EntityAnswer> update_environment(EntityDesk& desk, const Caller& caller,
                                        const std::string& app, const std::string& id,
                                        const Attributes& changes);
// The answer's entity is the deployment, and its attribute job_id the deploy_release job.
Result<EntityAnswer> deploy_release(EntityDesk& desk, const Caller& caller, const std::string& app,
                                    const std::string& environment, const std::string& release);
// Enqueues a runtime_profile_drift_check of the environment as it is now.
Result<EntityAnswer> check_drift(EntityDesk& desk, const Caller& caller, const std::string& app,
                                 const std::string& environment);
// `attributes`: name, kind (persistent_env, temp_workspace, temp_changeset), env_vars {}, secrets
// {}, url, database {}. Secrets are kept as digests only.
Result<EntityAnswer> create_profile(EntityDesk& desk, const Caller& caller, const std::string& app,
                                    Attributes attributes);
Result<EntityAnswer> update_profile(EntityDesk& desk, const Caller& caller, const std::string& app,
                                    const std::string& id, const Attributes& changes);

// ── temp environments ──
// `attributes`: name, runtime_profile_id, changeset_id, ttl_seconds
Result<EntityAnswer> create_temp_environment(EntityDesk& desk, const Caller& caller,
                                             const std::string& app, Attributes attributes);
// Expires it now rather than at its time.
Result<EntityAnswer> expire_temp_environment(EntityDesk& desk, const Caller& caller,
                                             const std::string& app, const std::string& id);

// ── drift ──
// What a deployment to the environment depends on, part by part: digests of env_vars, secrets, url,
// database and migrations. Kept as the attribute "validated" of the environment when a check of it
// has succeeded.
Attributes fingerprint(EntityReader& entities, const Entity& environment);
// The parts in which the environment differs from what was validated; none when nothing ever was.
std::vector<std::string> drifted_parts(EntityReader& entities, const Entity& environment);

}  // namespace sluice::apps
