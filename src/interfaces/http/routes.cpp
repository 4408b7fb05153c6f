#include "interfaces/http/routes.hpp"

#include <array>
#include <string>

#include "interfaces/http/apps/contract.hpp"
#include "interfaces/http/ascii.hpp"
#include "interfaces/http/caller.hpp"
#include "interfaces/http/deploy/contract.hpp"
#include "interfaces/http/health.hpp"
#include "interfaces/http/jobs/contract.hpp"
#include "interfaces/http/native/handlers.hpp"
#include "interfaces/http/problem.hpp"

namespace sluice::http {
namespace {

constexpr std::size_t batch_bytes = 8 * 1024 * 1024;

// The native API on one screen.
// clang-format off
constexpr auto native_routes = std::to_array<Route>({
    {Verb::post, "/api/v1/jobs",                          native::submit_job},
    {Verb::post, "/api/v1/leases",                        native::claim},
    {Verb::post, "/api/v1/leases/{id}/report",            native::report},
    {Verb::post, "/api/v1/leases/{id}/heartbeat",         native::heartbeat},
    {Verb::post, "/api/v1/leases/{id}/logs",              native::append_log_lines},
    {Verb::post, "/api/v1/leases/{id}/release",           native::release},
    {Verb::post, "/api/v1/leases/heartbeat",              native::heartbeat_many, batch_bytes},
    {Verb::post, "/api/v1/leases/report",                 native::report_many, batch_bytes},
    {Verb::post, "/api/v1/jobs/batch",                    native::submit_batch, batch_bytes},
    {Verb::get,  "/api/v1/jobs",                          native::list_jobs},
    {Verb::get,  "/api/v1/jobs/{id}",                     native::get_job},
    {Verb::get,  "/api/v1/jobs/{id}/logs",                native::get_logs},
    {Verb::get,  "/api/v1/jobs/{id}/events",              native::get_events},
    {Verb::get,  "/api/v1/jobs/{id}/stream",              native::stream_job},
    {Verb::get,  "/api/v1/jobs/{id}/explain",             native::explain},
    {Verb::post, "/api/v1/jobs/{id}/cancel",              native::cancel},
    {Verb::post, "/api/v1/jobs/{id}/replay",              native::replay},
    {Verb::get,  "/api/v1/workers",                       native::list_workers},
    {Verb::get,  "/api/v1/entities",                      native::list_entities},
    {Verb::post, "/api/v1/entities",                      native::create_entity},
    {Verb::get,  "/api/v1/entities/{kind}/{id}",          native::get_entity},
    {Verb::post, "/api/v1/entities/{kind}/{id}",          native::change_entity},
    {Verb::get,  "/api/v1/entities/{kind}/{id}/events",   native::get_entity_events},
    {Verb::get,  "/api/v1/entities/{kind}/{id}/stream",   native::stream_entity},
    {Verb::get,  "/api/v1/sites",                         native::list_sites},
    {Verb::post, "/api/v1/sites",                         native::create_site},
    {Verb::get,  "/api/v1/sites/{id}",                    native::get_site},
    {Verb::post, "/api/v1/sites/{id}/reset",              native::reset_site},
    {Verb::get,  "/api/v1/environments",                  native::list_environments},
    {Verb::post, "/api/v1/environments",                  native::create_environment},
    {Verb::get,  "/api/v1/environments/{id}",             native::get_environment},
    {Verb::post, "/api/v1/environments/{id}/reset",       native::reset_environment},
    {Verb::get,  "/api/v1/nodes",                         native::list_nodes},
    {Verb::post, "/api/v1/nodes",                         native::create_node},
    {Verb::get,  "/api/v1/nodes/{id}",                    native::get_node},
    {Verb::post, "/api/v1/gates/check",                   native::check_gates},
    {Verb::get,  "/healthz",                              health},
    {Verb::get,  "/readyz",                               ready},
    {Verb::get,  "/metrics",                              metrics},
});
// clang-format on

Response native_refusal(int status, std::string_view code, const std::string& message,
                        std::string_view request_id) {
    return problem(status, code, message, request_id);
}

// In the order in which they are looked at: the hot paths first. Native also answers for all paths
// that are nobody's.
std::span<const Contract* const> contracts() {
    static const Contract native{"/", native_routes, native_refusal};
    static const std::array all{
        &native,           &deploy::contract(),      &jobs::contract(),
        &apps::contract(), &deploy::node_contract(), &deploy::admin_contract()};
    return all;
}

// What stands in the path at {…}, or nothing when the pattern does not fit.
struct Ids {
    std::string_view first;
    std::string_view second;
};

std::string_view take_segment(std::string_view& path) {
    const std::string_view segment = path.substr(0, path.find('/'));
    path.remove_prefix(segment.size());
    return segment;
}

std::optional<Ids> match(std::string_view pattern, std::string_view path) {
    Ids ids;
    for (std::string_view* id : {&ids.first, &ids.second}) {
        const std::size_t open = pattern.find('{');
        if (open == std::string_view::npos) break;
        if (!path.starts_with(pattern.substr(0, open))) return std::nullopt;
        path.remove_prefix(open);
        *id = take_segment(path);
        if (id->empty()) return std::nullopt;
        pattern.remove_prefix(pattern.find('}') + 1);
    }
    return path == pattern ? std::optional(ids) : std::nullopt;
}

struct Found {
    const Route* route = nullptr;
    Ids ids{};
    std::string allowed{};  // verbs that the path does have, when the route was not found
};

Found find_route(Verb verb, std::string_view path) {
    if (verb == Verb::head) verb = Verb::get;
    Found found;
    for (const Contract* contract : contracts()) {
        for (const Route& route : contract->routes) {
            const auto ids = match(route.pattern, path);
            if (!ids) continue;
            if (route.verb == verb) return {&route, *ids};
            if (found.allowed.find(to_text(route.verb)) != std::string::npos) continue;
            if (!found.allowed.empty()) found.allowed += ", ";
            found.allowed += to_text(route.verb);
            if (route.verb == Verb::get) found.allowed += ", HEAD";
        }
    }
    return found;
}

// The contract with the longest prefix of the path: in its words a refusal is said.
const Contract& contract_of(std::string_view path) {
    const Contract* best = contracts().front();
    for (const Contract* contract : contracts()) {
        if (path.starts_with(contract->prefix) && contract->prefix.size() > best->prefix.size()) {
            best = contract;
        }
    }
    return *best;
}

bool is_json(const Request& request) {
    const std::string_view* type = request.header("Content-Type");
    if (!type) return true;
    std::string_view name = type->substr(0, type->find(';'));
    while (name.ends_with(' ')) name.remove_suffix(1);
    return equals_ignoring_case(name, "application/json");
}

// Browsers say from where a page writes. Pages from elsewhere must not: they would act with the
// rights of whoever looks at them.
bool is_from_foreign_page(const Request& request) {
    const std::string_view* origin = request.header("Origin");
    const std::string_view* host = request.header("Host");
    if (!origin || request.verb == Verb::get || request.verb == Verb::head) return false;
    const std::size_t scheme = origin->find("://");
    return scheme == std::string_view::npos || !host ||
           !equals_ignoring_case(origin->substr(scheme + 3), *host);
}

}  // namespace

void dispatch(const Request& request, App& app, Reply reply) {
    const Found found = find_route(request.verb, request.path);
    const auto refuse = [&](int status, std::string_view code, const std::string& message) {
        return contract_of(request.path).refusal(status, code, message, request.request_id);
    };
    if (!found.route) {
        if (found.allowed.empty()) {
            return reply.send(refuse(404, "not_found", "there is nothing at this path"));
        }
        Response refusal = refuse(405, "method_not_allowed",
                                  "this path does not have this method; it has " + found.allowed);
        refusal.headers.emplace_back("Allow", found.allowed);
        return reply.send(std::move(refusal));
    }
    if (is_from_foreign_page(request)) {
        return reply.send(
            refuse(403, "foreign_origin", "pages from another origin may not write here"));
    }
    if (!names_its_caller_well(request)) {
        return reply.send(refuse(400, "malformed",
                                 "X-Sluice-User must be a name: UTF-8 without control characters, "
                                 "up to 200 bytes, not empty"));
    }
    if (!request.body.empty() && !is_json(request)) {
        return reply.send(
            refuse(415, "unsupported_media_type", "send Content-Type: application/json"));
    }
    found.route->handler({request, found.ids.first, found.ids.second, app, std::move(reply)});
}

std::size_t body_limit(Verb verb, std::string_view path, std::size_t usual) {
    const Found found = find_route(verb, path);
    return found.route && found.route->body_bytes > 0 ? found.route->body_bytes : usual;
}

std::string_view route_of(Verb verb, std::string_view path) {
    const Found found = find_route(verb, path);
    return found.route ? found.route->pattern : "other";
}

}  // namespace sluice::http
