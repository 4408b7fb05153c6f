#include "interfaces/http/apps/contract.hpp"

#include <array>

#include "interfaces/http/apps/envelope.hpp"
#include "interfaces/http/apps/handlers.hpp"

namespace sluice::http::apps {
namespace {

// Roles in the app, by their purpose.
constexpr Right lists = needs::reading_as("");
constexpr Right makes = needs::writing_as("");
constexpr Right reads = needs::reading_as("user");
constexpr Right user = needs::writing_as("user");
constexpr Right review = needs::writing_as("reviewer");
constexpr Right manage = needs::writing_as("config_manager");
constexpr Right admin = needs::writing_as("app_admin");

// clang-format off
constexpr auto routes = std::to_array<Route>({
    {Verb::get,   "/api/apps/{app}/jobs/{id}",                     reads,  get_job},
    {Verb::get,   "/api/apps/{app}/jobs",                          reads,  list_jobs},
    {Verb::get,   "/api/apps/{app}/jobs/{id}/logs",                reads,  get_job_logs},
    {Verb::post,  "/api/apps",                                     makes,  create_app},
    {Verb::get,   "/api/apps",                                     lists,  list_apps},
    {Verb::get,   "/api/apps/{app}",                               reads,  get_app},
    {Verb::patch, "/api/apps/{app}",                               admin,  update_app},
    {Verb::post,  "/api/apps/{app}/members",                       admin,  put_member},
    {Verb::get,   "/api/apps/{app}/members",                       reads,  list_members},
    {Verb::post,  "/api/apps/{app}/changesets",                    user,   create_changeset},
    {Verb::get,   "/api/apps/{app}/changesets",                    reads,  list_changesets},
    {Verb::get,   "/api/apps/{app}/changesets/{id}",               reads,  get_changeset},
    {Verb::post,  "/api/apps/{app}/changesets/{id}/submit",        user,   submit_changeset},
    {Verb::post,  "/api/apps/{app}/changesets/{id}/resubmit",      user,   resubmit_changeset},
    {Verb::post,  "/api/apps/{app}/changesets/{id}/review",        review, review_changeset},
    {Verb::post,  "/api/apps/{app}/changesets/{id}/queue",         manage, queue_changeset},
    {Verb::post,  "/api/apps/{app}/changesets/{id}/move-to-draft", user,   move_changeset_to_draft},
    {Verb::post,  "/api/apps/{app}/releases",                      manage, create_release},
    {Verb::get,   "/api/apps/{app}/releases",                      reads,  list_releases},
    {Verb::get,   "/api/apps/{app}/releases/{id}",                 reads,  get_release},
    {Verb::post,  "/api/apps/{app}/releases/{id}/assemble",        manage, assemble_release},
    {Verb::post,  "/api/apps/{app}/releases/{id}/publish",         manage, publish_release},
    {Verb::post,  "/api/apps/{app}/releases/{id}/rollback",        manage, roll_back_release},
    {Verb::post,  "/api/apps/{app}/environments",                  manage, create_environment},
    {Verb::get,   "/api/apps/{app}/environments",                  reads,  list_environments},
    {Verb::get,   "/api/apps/{app}/environments/{id}",             reads,  get_environment},
    {Verb::patch, "/api/apps/{app}/environments/{id}",             manage, update_environment},
    {Verb::post,  "/api/apps/{app}/environments/{id}/deploy",      manage, deploy},
    {Verb::post,  "/api/apps/{app}/environments/{id}/drift-check", manage, check_drift},
    {Verb::get,   "/api/apps/{app}/environments/{id}/drift",       reads,  get_drift},
    {Verb::get,   "/api/apps/{app}/environments/{id}/migrations",  reads,  list_migrations},
    {Verb::get,   "/api/apps/{app}/deployments",                   reads,  list_deployments},
    {Verb::get,   "/api/apps/{app}/deployments/{id}",              reads,  get_deployment},
    {Verb::post,  "/api/apps/{app}/temp-envs",                     user,   create_temp_environment},
    {Verb::get,   "/api/apps/{app}/temp-envs",                     reads,  list_temp_environments},
    {Verb::get,   "/api/apps/{app}/temp-envs/{id}",                reads,  get_temp_environment},
    {Verb::post,  "/api/apps/{app}/temp-envs/{id}/expire",         user,   expire_temp_environment},
    {Verb::post,  "/api/apps/{app}/runtime-profiles",              manage, create_profile},
    {Verb::get,   "/api/apps/{app}/runtime-profiles",              reads,  list_profiles},
    {Verb::get,   "/api/apps/{app}/runtime-profiles/{id}",         reads,  get_profile},
    {Verb::patch, "/api/apps/{app}/runtime-profiles/{id}",         manage, update_profile},
});
// clang-format on

// Answers paths of no route. A foreign origin, as the server calls it, is reported as a missing
// right.
Response refusal_at_the_door(int status, std::string_view code, const std::string& message,
                             std::string_view request_id) {
    if (status == 400) code = "validation_error";
    if (status == 403) code = "forbidden";
    return refusal(status, code, message, request_id);
}

}  // namespace

const Contract& contract() {
    static const Contract contract{"/api/apps", routes, refusal_at_the_door, Reading::tolerant};
    return contract;
}

}  // namespace sluice::http::apps
