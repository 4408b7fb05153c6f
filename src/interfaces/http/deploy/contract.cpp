#include "interfaces/http/deploy/contract.hpp"

#include <array>

#include "interfaces/http/deploy/envelope.hpp"
#include "interfaces/http/deploy/handlers.hpp"

namespace sluice::http::deploy {
namespace {

// What has a fixed name at the place of an id comes first.
// clang-format off
constexpr auto job_routes = std::to_array<Route>({
    {Verb::post, "/deploy/jobs/claim",           needs::deploy_work, claim},
    {Verb::get,  "/deploy/jobs/by-app",          needs::deploy_read, list_jobs_of_app},
    {Verb::post, "/deploy/jobs",                 needs::deploy_operate, create_job},
    {Verb::get,  "/deploy/jobs",                 needs::deploy_read, list_jobs},
    {Verb::get,  "/deploy/jobs/{id}",            needs::deploy_read, get_job},
    {Verb::post, "/deploy/jobs/{id}/heartbeat",  needs::deploy_work, heartbeat},
    {Verb::post, "/deploy/jobs/{id}/report",     needs::deploy_work, report},
    {Verb::post, "/deploy/jobs/{id}/cancel",     needs::deploy_operate, cancel},
    {Verb::post, "/deploy/jobs/{id}/transition", needs::deploy_operate, transition},
    {Verb::post, "/deploy/apps/stop",            needs::deploy_operate, stop_app},
    {Verb::post, "/deploy/apps/purge",           needs::deploy_operate, purge_app},
    {Verb::post, "/deploy/apps/cleanup",         needs::deploy_operate, clean_up_app},
});

constexpr auto node_routes = std::to_array<Route>({
    {Verb::post, "/internal/runtime-nodes/heartbeat", needs::deploy_node, node_heartbeat},
    {Verb::get,  "/internal/health",                  needs::nothing, health},
});

constexpr auto admin_routes = std::to_array<Route>({
    {Verb::get,  "/admin/runtime-nodes/list",        needs::deploy_admin, list_nodes},
    {Verb::post, "/admin/runtime-nodes/upsert",      needs::deploy_admin, upsert_node},
    {Verb::post, "/admin/runtime-nodes/set-enabled", needs::deploy_admin, set_node_enabled},
    {Verb::get,  "/admin/runtime-nodes/placements",  needs::deploy_admin, list_placements},
    {Verb::post, "/admin/runtime-nodes/reassign",    needs::deploy_admin, reassign},
    {Verb::post, "/admin/runtime-nodes/drain",       needs::deploy_admin, drain},
    {Verb::get,  "/admin/runners/list",              needs::deploy_admin, list_runners},
});
// clang-format on

Response refusal(int status, std::string_view, const std::string& message, std::string_view) {
    return refused_by_status(status, message);
}

}  // namespace

const Contract& contract() {
    static const Contract contract{"/deploy/", job_routes, refusal, Reading::tolerant};
    return contract;
}

const Contract& node_contract() {
    static const Contract contract{"/internal/", node_routes, refusal, Reading::tolerant};
    return contract;
}

const Contract& admin_contract() {
    static const Contract contract{"/admin/", admin_routes, refusal, Reading::tolerant};
    return contract;
}

}  // namespace sluice::http::deploy
