#include "interfaces/http/routes.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <stdexcept>
#include <string>

#include "interfaces/http/apps/contract.hpp"
#include "interfaces/http/deploy/contract.hpp"
#include "interfaces/http/jobs/contract.hpp"
#include "interfaces/http/native/contract.hpp"

namespace sluice::http {
namespace {

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

// What anybody may ask.
constexpr auto open_paths =
    std::to_array<std::string_view>({"/healthz", "/readyz", "/internal/health"});

bool is_open_by_design(std::string_view pattern) {
    return std::find(open_paths.begin(), open_paths.end(), pattern) != open_paths.end();
}

}  // namespace

// The hot paths come first. Native also answers for all paths that are nobody's.
std::span<const Contract* const> contracts() {
    static const std::array all{&native::contract(),      &deploy::contract(),
                                &jobs::contract(),        &apps::contract(),
                                &deploy::node_contract(), &deploy::admin_contract()};
    return all;
}

FoundRoute find_route(Verb verb, std::string_view path) {
    if (verb == Verb::head) verb = Verb::get;
    FoundRoute found;
    for (const Contract* contract : contracts()) {
        for (const Route& route : contract->routes) {
            const auto ids = match(route.pattern, path);
            if (!ids) continue;
            if (route.verb == verb) return {&route, contract, ids->first, ids->second};
            if (found.allowed.find(to_text(route.verb)) != std::string::npos) continue;
            if (!found.allowed.empty()) found.allowed += ", ";
            found.allowed += to_text(route.verb);
            if (route.verb == Verb::get) found.allowed += ", HEAD";
        }
    }
    return found;
}

const Contract& contract_of(std::string_view path) {
    const Contract* best = contracts().front();
    for (const Contract* contract : contracts()) {
        if (path.starts_with(contract->prefix) && contract->prefix.size() > best->prefix.size()) {
            best = contract;
        }
    }
    return *best;
}

std::size_t body_limit(Verb verb, std::string_view path, std::size_t usual) {
    const FoundRoute found = find_route(verb, path);
    return found.route && found.route->body_bytes > 0 ? found.route->body_bytes : usual;
}

std::string_view route_of(Verb verb, std::string_view path) {
    const FoundRoute found = find_route(verb, path);
    return found.route ? found.route->pattern : "other";
}

void check_rights() {
    for (const Contract* contract : contracts()) {
        for (const Route& route : contract->routes) {
            const bool is_unsaid = route.right.door == Right::Door::unsaid;
            const bool is_open = route.right.door == Right::Door::open;
            if (!is_unsaid && (!is_open || is_open_by_design(route.pattern))) continue;
            throw std::logic_error(fmt::format("the table of routes does not say who may {} {}",
                                               to_text(route.verb), route.pattern));
        }
    }
}

std::string rights_table() {
    std::string table = "| call | needs |\n|---|---|\n";
    for (const Contract* contract : contracts()) {
        for (const Route& route : contract->routes) {
            table += fmt::format("| `{} {}` | {} |\n", to_text(route.verb), route.pattern,
                                 describe(route.right));
        }
    }
    return table;
}

}  // namespace sluice::http
