#include "interfaces/http/deploy/contract.hpp"

#include <array>

#include "interfaces/http/deploy/access.hpp"
#include "interfaces/http/deploy/envelope.hpp"
#include "interfaces/http/deploy/handlers.hpp"

namespace sluice::http::deploy {
namespace {

// What has a fixed name at the place of an id comes first.
// clang-format off
constexpr auto job_routes = std::to_array<Route>({
    {Verb::post, "/deploy/jobs/claim",           behind<Door::runners, claim>},
    {Verb::get,  "/deploy/jobs/by-app",          behind<Door::control, list_jobs_of_app>},
    {Verb::post, "/deploy/jobs",                 behind<Door::control, create_job>},
    {Verb::get,  "/deploy/jobs",                 behind<Door::control, list_jobs>},
    {Verb::get,  "/deploy/jobs/{id}",            behind<Door::control, get_job>},
    {Verb::post, "/deploy/jobs/{id}/heartbeat",  behind<Door::runners, heartbeat>},
    {Verb::post, "/deploy/jobs/{id}/report",     behind<Door::runners, report>},
    {Verb::post, "/deploy/jobs/{id}/cancel",     behind<Door::control, cancel>},
    {Verb::post, "/deploy/jobs/{id}/transition", behind<Door::control, transition>},
});

constexpr auto node_routes = std::to_array<Route>({
    {Verb::post, "/internal/runtime-nodes/heartbeat", behind<Door::nodes, node_heartbeat>},
});

constexpr auto admin_routes = std::to_array<Route>({
    {Verb::get,  "/admin/runtime-nodes/list",        behind<Door::admin, list_nodes>},
    {Verb::post, "/admin/runtime-nodes/upsert",      behind<Door::admin, upsert_node>},
    {Verb::post, "/admin/runtime-nodes/set-enabled", behind<Door::admin, set_node_enabled>},
    {Verb::get,  "/admin/runtime-nodes/placements",  behind<Door::admin, list_placements>},
    {Verb::post, "/admin/runtime-nodes/reassign",    behind<Door::admin, reassign>},
    {Verb::post, "/admin/runtime-nodes/drain",       behind<Door::admin, drain>},
    {Verb::get,  "/admin/runners/list",              behind<Door::admin, list_runners>},
});
// clang-format on

Response refusal(int status, std::string_view, const std::string& message, std::string_view) {
    return refused_by_status(status, message);
}

}  // namespace

const Contract& contract() {
    static const Contract contract{"/deploy/", job_routes, refusal};
    return contract;
}

const Contract& node_contract() {
    static const Contract contract{"/internal/runtime-nodes/", node_routes, refusal};
    return contract;
}

const Contract& admin_contract() {
    static const Contract contract{"/admin/", admin_routes, refusal};
    return contract;
}

}  // namespace sluice::http::deploy
