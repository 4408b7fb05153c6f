#include "interfaces/http/apps/contract.hpp"

#include <array>

#include "interfaces/http/apps/envelope.hpp"
#include "interfaces/http/apps/handlers.hpp"

namespace sluice::http::apps {
namespace {

// clang-format off
constexpr auto routes = std::to_array<Route>({
    {Verb::get,   "/api/apps/{app}/jobs/{id}",                     get_job},
    {Verb::get,   "/api/apps/{app}/jobs",                          list_jobs},
    {Verb::get,   "/api/apps/{app}/jobs/{id}/logs",                get_job_logs},
    {Verb::post,  "/api/apps",                                     create_app},
    {Verb::get,   "/api/apps",                                     list_apps},
    {Verb::get,   "/api/apps/{app}",                               get_app},
    {Verb::patch, "/api/apps/{app}",                               update_app},
    {Verb::post,  "/api/apps/{app}/members",                       put_member},
    {Verb::get,   "/api/apps/{app}/members",                       list_members},
    {Verb::post,  "/api/apps/{app}/changesets",                    create_changeset},
    {Verb::get,   "/api/apps/{app}/changesets",                    list_changesets},
    {Verb::get,   "/api/apps/{app}/changesets/{id}",               get_changeset},
    {Verb::post,  "/api/apps/{app}/changesets/{id}/submit",        submit_changeset},
    {Verb::post,  "/api/apps/{app}/changesets/{id}/resubmit",      resubmit_changeset},
    {Verb::post,  "/api/apps/{app}/changesets/{id}/review",        review_changeset},
    {Verb::post,  "/api/apps/{app}/changesets/{id}/queue",         queue_changeset},
    {Verb::post,  "/api/apps/{app}/changesets/{id}/move-to-draft", move_changeset_to_draft},
    {Verb::post,  "/api/apps/{app}/releases",                      create_release},
    {Verb::get,   "/api/apps/{app}/releases",                      list_releases},
    {Verb::get,   "/api/apps/{app}/releases/{id}",                 get_release},
    {Verb::post,  "/api/apps/{app}/releases/{id}/assemble",        assemble_release},
    {Verb::post,  "/api/apps/{app}/releases/{id}/publish",         publish_release},
    {Verb::post,  "/api/apps/{app}/releases/{id}/rollback",        roll_back_release},
    {Verb::post,  "/api/apps/{app}/environments",                  create_environment},
    {Verb::get,   "/api/apps/{app}/environments",                  list_environments},
    {Verb::get,   "/api/apps/{app}/environments/{id}",             get_environment},
    {Verb::patch, "/api/apps/{app}/environments/{id}",             update_environment},
    {Verb::post,  "/api/apps/{app}/environments/{id}/deploy",      deploy},
    {Verb::post,  "/api/apps/{app}/environments/{id}/drift-check", check_drift},
    {Verb::get,   "/api/apps/{app}/environments/{id}/drift",       get_drift},
    {Verb::get,   "/api/apps/{app}/environments/{id}/migrations",  list_migrations},
    {Verb::get,   "/api/apps/{app}/deployments",                   list_deployments},
    {Verb::get,   "/api/apps/{app}/deployments/{id}",              get_deployment},
    {Verb::post,  "/api/apps/{app}/temp-envs",                     create_temp_environment},
    {Verb::get,   "/api/apps/{app}/temp-envs",                     list_temp_environments},
    {Verb::get,   "/api/apps/{app}/temp-envs/{id}",                get_temp_environment},
    {Verb::post,  "/api/apps/{app}/temp-envs/{id}/expire",         expire_temp_environment},
    {Verb::post,  "/api/apps/{app}/runtime-profiles",              create_profile},
    {Verb::get,   "/api/apps/{app}/runtime-profiles",              list_profiles},
    {Verb::get,   "/api/apps/{app}/runtime-profiles/{id}",         get_profile},
    {Verb::patch, "/api/apps/{app}/runtime-profiles/{id}",         update_profile},
});
// clang-format on

// Paths that lead nowhere; what the server calls a foreign origin is a caller who may not.
Response refuse(int status, std::string_view code, const std::string& message,
                std::string_view request_id) {
    if (status == 400) code = "validation_error";
    if (status == 403) code = "forbidden";
    return refusal(status, code, message, request_id);
}

}  // namespace

const Contract& contract() {
    static const Contract contract{"/api/apps", routes, refuse};
    return contract;
}

}  // namespace sluice::http::apps
