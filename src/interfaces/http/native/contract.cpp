#include "interfaces/http/native/contract.hpp"

#include <array>

#include "interfaces/http/message/problem.hpp"
#include "interfaces/http/native/entities.hpp"
#include "interfaces/http/native/handlers.hpp"
#include "interfaces/http/native_limits/handlers.hpp"
#include "interfaces/http/toolkit/health.hpp"

namespace sluice::http::native {
namespace {

constexpr std::size_t batch = 8 * 1024 * 1024;
constexpr Query own = Query::handler;
constexpr Query any = Query::ignored;

// Sites, environments and nodes: kinds of entities with paths of their own.
constexpr char site[] = "site", env[] = "environment", node[] = "node";
constexpr char sites[] = "sites", envs[] = "environments", nodes[] = "nodes";

template <const char* kind, const char* list>
void list_of(Call call) {
    list_of_kind(std::move(call), kind, list);
}
template <const char* kind>
void create_kind(Call call) {
    create_of_kind(std::move(call), kind);
}
template <const char* kind>
void get_kind(Call call) {
    const std::string_view id = call.param(0);
    get_of_kind(std::move(call), kind, id);
}
template <const char* kind>
void reset_kind(Call call) {
    reset_of_kind(std::move(call), kind);
}

// clang-format off
constexpr auto routes = std::to_array<Route>({
    {Verb::post, "/api/v1/jobs",                        needs::operate,  submit_job},
    {Verb::post, "/api/v1/leases",                      needs::work,     claim},
    {Verb::post, "/api/v1/leases/{id}/report",          needs::work,     report},
    {Verb::post, "/api/v1/leases/{id}/heartbeat",       needs::work,     heartbeat},
    {Verb::post, "/api/v1/leases/{id}/logs",            needs::work,     append_log_lines},
    {Verb::post, "/api/v1/leases/{id}/release",         needs::work,     release},
    {Verb::post, "/api/v1/leases/heartbeat",            needs::work,     heartbeat_many, {}, batch},
    {Verb::post, "/api/v1/leases/report",               needs::work,     report_many, {}, batch},
    {Verb::post, "/api/v1/jobs/batch",                  needs::operate,  submit_batch, {}, batch},
    {Verb::get,  "/api/v1/jobs",                        needs::read,     list_jobs, own},
    {Verb::get,  "/api/v1/jobs/{id}",                   needs::read,     get_job, own},
    {Verb::get,  "/api/v1/jobs/{id}/logs",              needs::read,     get_logs, own},
    {Verb::get,  "/api/v1/jobs/{id}/events",            needs::read,     get_events, own},
    {Verb::get,  "/api/v1/jobs/{id}/stream",            needs::read,     stream_job, own},
    {Verb::get,  "/api/v1/jobs/{id}/explain",           needs::read,     explain, own},
    {Verb::post, "/api/v1/jobs/{id}/cancel",            needs::operate,  cancel, own},
    {Verb::post, "/api/v1/jobs/{id}/replay",            needs::operate,  replay, own},
    {Verb::post, "/api/v1/jobs/{id}/release-lease",     needs::operate,  release_lease, own},
    {Verb::get,  "/api/v1/workers",                     needs::read,     list_workers, own},
    {Verb::get,  "/api/v1/entities",                    needs::read,     list_entities, own},
    {Verb::post, "/api/v1/entities",                    needs::operate,  create_entity},
    {Verb::get,  "/api/v1/entities/{kind}/{id}",        needs::read,     get_entity, own},
    {Verb::post, "/api/v1/entities/{kind}/{id}",        needs::operate,  change_entity, own},
    {Verb::get,  "/api/v1/entities/{kind}/{id}/events", needs::read,     get_entity_events, own},
    {Verb::get,  "/api/v1/entities/{kind}/{id}/stream", needs::read,     stream_entity, own},
    {Verb::get,  "/api/v1/sites",                       needs::read,     list_of<site, sites>, own},
    {Verb::post, "/api/v1/sites",                       needs::operate,  create_kind<site>},
    {Verb::get,  "/api/v1/sites/{id}",                  needs::read,     get_kind<site>, own},
    {Verb::post, "/api/v1/sites/{id}/reset",            needs::admin,    reset_kind<site>, own},
    {Verb::get,  "/api/v1/environments",                needs::read,     list_of<env, envs>, own},
    {Verb::post, "/api/v1/environments",                needs::operate,  create_kind<env>},
    {Verb::get,  "/api/v1/environments/{id}",           needs::read,     get_kind<env>, own},
    {Verb::post, "/api/v1/environments/{id}/reset",     needs::admin,    reset_kind<env>, own},
    {Verb::get,  "/api/v1/nodes",                       needs::read,     list_of<node, nodes>, own},
    {Verb::post, "/api/v1/nodes",                       needs::admin,    create_kind<node>},
    {Verb::get,  "/api/v1/nodes/{id}",                  needs::read,     get_kind<node>, own},
    {Verb::post, "/api/v1/gates/check",                 needs::read,     check_gates},
    {Verb::get,  "/api/v1/limits",                      needs::read,     list_limits, own},
    {Verb::post, "/api/v1/limits",                      needs::quota,    create_limit},
    {Verb::get,  "/api/v1/limits/history",              needs::read,     get_limit_history, own},
    {Verb::get,  "/api/v1/limits/can-start",            needs::read,     can_start, own},
    {Verb::post, "/api/v1/limits/check",                needs::admin_overall, check_limits},
    {Verb::get,  "/api/v1/limits/{id}",                 needs::read,     get_limit, own},
    {Verb::post, "/api/v1/limits/{id}",                 needs::quota,    change_limit},
    {Verb::post, "/api/v1/limits/{id}/lift",            needs::quota,    lift_limit},
    {Verb::get,  "/api/v1/quotas",                      needs::read,     list_quotas, own},
    {Verb::post, "/api/v1/quotas",                      needs::quota,    create_quota},
    {Verb::get,  "/api/v1/quotas/profiles",             needs::read,     list_profiles},
    {Verb::post, "/api/v1/quotas/profiles/{name}",      needs::quota_overall, set_profile},
    {Verb::get,  "/api/v1/quotas/{id}",                 needs::read,     get_quota, own},
    {Verb::post, "/api/v1/quotas/{id}",                 needs::quota,    change_quota},
    {Verb::post, "/api/v1/quotas/{id}/{action}",        needs::quota,    act_on_quota},
    {Verb::get,  "/api/v1/sources",                     needs::read,     list_sources, own},
    {Verb::post, "/api/v1/sources/{source}/pause",      needs::operate,  pause_source},
    {Verb::post, "/api/v1/sources/{source}/resume",     needs::operate,  resume_source},
    {Verb::post, "/api/v1/sources/pause",               needs::operate,  pause_named_source},
    {Verb::post, "/api/v1/sources/resume",              needs::operate,  resume_named_source},
    {Verb::get,  "/api/v1/maintenance",                 needs::read,     list_maintenance, own},
    {Verb::post, "/api/v1/maintenance",                 needs::admin,    begin_maintenance},
    {Verb::post, "/api/v1/maintenance/end",             needs::admin,    end_maintenance},
    {Verb::get,  "/api/v1/tenants/blocked",             needs::read_overall, list_blocked, own},
    {Verb::post, "/api/v1/tenants/{id}/block",          needs::admin_overall, block_tenant},
    {Verb::post, "/api/v1/tenants/{id}/unblock",        needs::admin_overall, unblock_tenant},
    {Verb::post, "/api/v1/tenants/block",               needs::admin_overall, block_named_tenant},
    {Verb::post, "/api/v1/tenants/unblock",             needs::admin_overall, unblock_named_tenant},
    {Verb::post, "/api/v1/tokens",                      needs::admin,    create_token},
    {Verb::get,  "/api/v1/tokens",                      needs::admin,    list_tokens, own},
    {Verb::post, "/api/v1/tokens/{id}/revoke",          needs::admin,    revoke_token},
    {Verb::get,  "/api/v1/whoami",                      needs::somebody, whoami},
    {Verb::get,  "/healthz",                            needs::nothing,  health, any},
    {Verb::get,  "/readyz",                             needs::nothing,  ready, any},
    {Verb::get,  "/metrics",                            needs::read_overall, metrics, any},
});
// clang-format on

Response refusal(int status, std::string_view code, const std::string& message,
                 std::string_view request_id) {
    return problem(status, code, message, request_id);
}

}  // namespace

const Contract& contract() {
    static const Contract contract{"/", routes, refusal};
    return contract;
}

}  // namespace sluice::http::native
