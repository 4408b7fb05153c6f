#include "interfaces/http/dispatch/routes.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <stdexcept>

#include "interfaces/http/api_jobs/contract.hpp"
#include "interfaces/http/apps/contract.hpp"
#include "interfaces/http/deploy/contract.hpp"
#include "interfaces/http/native/contract.hpp"

namespace sluice::http {
namespace {

// Paths that need no token.
constexpr auto open_paths =
    std::to_array<std::string_view>({"/healthz", "/readyz", "/internal/health"});

bool is_open_by_design(std::string_view pattern) {
    return std::find(open_paths.begin(), open_paths.end(), pattern) != open_paths.end();
}

bool says_who_may(const Route& route) {
    switch (route.right.kind) {
        case Right::Kind::unsaid: return false;
        case Right::Kind::open: return is_open_by_design(route.pattern);
        case Right::Kind::door: return route.right.door != nullptr;
        default: return true;
    }
}

}  // namespace

// The first one, native, also answers for paths of no contract.
std::span<const Contract* const> contracts() {
    static const std::array all{&native::contract(),      &deploy::contract(),
                                &api_jobs::contract(),    &apps::contract(),
                                &deploy::node_contract(), &deploy::admin_contract()};
    return all;
}

void check_rights() {
    for (const Contract* contract : contracts()) {
        for (const Route& route : contract->routes) {
            if (says_who_may(route)) continue;
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
