#include "interfaces/http/routes.hpp"

#include <array>
#include <string>

#include "interfaces/http/ascii.hpp"
#include "interfaces/http/health.hpp"
#include "interfaces/http/native/handlers.hpp"
#include "interfaces/http/problem.hpp"

namespace sluice::http {
namespace {

struct Route {
    Verb verb;
    std::string_view pattern;  // {id} stands for one segment
    void (*handler)(Call);
    std::size_t body_bytes = 0;  // zero: the usual limit
};

constexpr std::size_t batch_bytes = 8 * 1024 * 1024;

// The whole API on one screen.
// clang-format off
constexpr auto routes = std::to_array<Route>({
    {Verb::post, "/api/v1/jobs",                   native::submit_job},
    {Verb::post, "/api/v1/leases",                 native::claim},
    {Verb::post, "/api/v1/leases/{id}/report",     native::report},
    {Verb::post, "/api/v1/leases/{id}/heartbeat",  native::heartbeat},
    {Verb::post, "/api/v1/leases/{id}/logs",       native::append_log_lines},
    {Verb::post, "/api/v1/leases/{id}/release",    native::release},
    {Verb::post, "/api/v1/leases/heartbeat",       native::heartbeat_many,  batch_bytes},
    {Verb::post, "/api/v1/leases/report",          native::report_many,     batch_bytes},
    {Verb::post, "/api/v1/jobs/batch",             native::submit_batch,    batch_bytes},
    {Verb::get,  "/api/v1/jobs",                   native::list_jobs},
    {Verb::get,  "/api/v1/jobs/{id}",              native::get_job},
    {Verb::get,  "/api/v1/jobs/{id}/logs",         native::get_logs},
    {Verb::get,  "/api/v1/jobs/{id}/events",       native::get_events},
    {Verb::get,  "/api/v1/jobs/{id}/stream",       native::stream_job},
    {Verb::get,  "/api/v1/jobs/{id}/explain",      native::explain},
    {Verb::post, "/api/v1/jobs/{id}/cancel",       native::cancel},
    {Verb::post, "/api/v1/jobs/{id}/replay",       native::replay},
    {Verb::get,  "/api/v1/workers",                native::list_workers},
    {Verb::get,  "/healthz",                       health},
    {Verb::get,  "/readyz",                        ready},
    {Verb::get,  "/metrics",                       metrics},
});
// clang-format on

constexpr std::string_view id_mark = "{id}";

// The segment that stands for {id}, an empty text when the pattern has none, or nothing when it
// does not fit.
std::optional<std::string_view> match(std::string_view pattern, std::string_view path) {
    const std::size_t mark = pattern.find(id_mark);
    if (mark == std::string_view::npos) {
        return path == pattern ? std::optional(std::string_view()) : std::nullopt;
    }
    const std::string_view before = pattern.substr(0, mark);
    const std::string_view after = pattern.substr(mark + id_mark.size());
    if (!path.starts_with(before)) return std::nullopt;
    path.remove_prefix(before.size());
    const std::size_t end = path.find('/');
    const std::string_view id = path.substr(0, end);
    const std::string_view rest =
        end == std::string_view::npos ? std::string_view() : path.substr(end);
    if (id.empty() || rest != after) return std::nullopt;
    return id;
}

struct Found {
    const Route* route = nullptr;
    std::string_view id;
    std::string allowed;  // verbs that the path does have, when the route was not found
};

Found find_route(Verb verb, std::string_view path) {
    if (verb == Verb::head) verb = Verb::get;
    Found found;
    for (const Route& route : routes) {
        const auto id = match(route.pattern, path);
        if (!id) continue;
        if (route.verb == verb) return {&route, *id, ""};
        if (found.allowed.find(to_text(route.verb)) != std::string::npos) continue;
        if (!found.allowed.empty()) found.allowed += ", ";
        found.allowed += to_text(route.verb);
        if (route.verb == Verb::get) found.allowed += ", HEAD";
    }
    return found;
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
    if (!found.route) {
        if (found.allowed.empty()) {
            return reply.send(
                problem(404, "not_found", "there is nothing at this path", request.request_id));
        }
        Response refusal = problem(405, "method_not_allowed",
                                   "this path does not have this method; it has " + found.allowed,
                                   request.request_id);
        refusal.headers.emplace_back("Allow", found.allowed);
        return reply.send(std::move(refusal));
    }
    if (is_from_foreign_page(request)) {
        return reply.send(problem(403, "foreign_origin",
                                  "pages from another origin may not write here",
                                  request.request_id));
    }
    if (!request.body.empty() && !is_json(request)) {
        return reply.send(problem(415, "unsupported_media_type",
                                  "send Content-Type: application/json", request.request_id));
    }
    found.route->handler({request, found.id, app, std::move(reply)});
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
