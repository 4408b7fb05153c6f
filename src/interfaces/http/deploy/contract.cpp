#include "interfaces/http/deploy/contract.hpp"

#include <array>

#include "interfaces/http/deploy/access.hpp"
#include "interfaces/http/deploy/envelope.hpp"
#include "interfaces/http/deploy/handlers.hpp"

namespace sluice::http::deploy {
namespace {

constexpr Right read_right = needs::passing(control_door, Scope::read);
constexpr Right operate_right = needs::passing(control_door, Scope::operate);
constexpr Right runner_right = needs::passing(runner_door, Scope::work);
constexpr Right node_right = needs::passing(node_door, Scope::admin);
constexpr Right admin_right = needs::passing(admin_door, Scope::admin);

// clang-format off
constexpr auto job_routes = std::to_array<Route>({
    {Verb::post, "/deploy/jobs/claim",           runner_right, claim},
    {Verb::get,  "/deploy/jobs/by-app",          read_right, list_jobs_of_app},
    {Verb::post, "/deploy/jobs",                 operate_right, create_job},
    {Verb::get,  "/deploy/jobs",                 read_right, list_jobs},
    {Verb::get,  "/deploy/jobs/{id}",            read_right, get_job},
    {Verb::post, "/deploy/jobs/{id}/heartbeat",  runner_right, heartbeat},
    {Verb::post, "/deploy/jobs/{id}/report",     runner_right, report},
    {Verb::post, "/deploy/jobs/{id}/cancel",     operate_right, cancel},
    {Verb::post, "/deploy/jobs/{id}/transition", operate_right, transition},
    {Verb::post, "/deploy/apps/stop",            operate_right, stop_app},
    {Verb::post, "/deploy/apps/purge",           operate_right, purge_app},
    {Verb::post, "/deploy/apps/cleanup",         operate_right, clean_up_app},
});

constexpr auto node_routes = std::to_array<Route>({
    {Verb::post, "/internal/runtime-nodes/heartbeat", node_right, node_heartbeat},
    {Verb::get,  "/internal/health",                  needs::nothing, health},
});

constexpr auto admin_routes = std::to_array<Route>({
    {Verb::get,  "/admin/runtime-nodes/list",        admin_right, list_nodes},
    {Verb::post, "/admin/runtime-nodes/upsert",      admin_right, upsert_node},
    {Verb::post, "/admin/runtime-nodes/set-enabled", admin_right, set_node_enabled},
    {Verb::get,  "/admin/runtime-nodes/placements",  admin_right, list_placements},
    {Verb::post, "/admin/runtime-nodes/reassign",    admin_right, reassign},
    {Verb::post, "/admin/runtime-nodes/drain",       admin_right, drain},
    {Verb::get,  "/admin/runners/list",              admin_right, list_runners},
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
