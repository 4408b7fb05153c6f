#include "domain/access/caller.hpp"

#include <array>
#include <utility>

namespace sluice {
namespace {

using namespace std::string_view_literals;

constexpr auto scope_names = std::to_array<std::pair<Scope, std::string_view>>({
    {Scope::read, "orch:read"sv},
    {Scope::operate, "orch:operate"sv},
    {Scope::quota, "orch:quota"sv},
    {Scope::backfill, "orch:backfill"sv},
    {Scope::admin, "orch:admin"sv},
});

constexpr auto kind_names = std::to_array<std::string_view>({"user", "worker", "service"});

}  // namespace

std::string_view to_text(Scope scope) {
    for (const auto& [known, name] : scope_names) {
        if (known == scope) return name;
    }
    return "work";
}

std::optional<Scope> parse_scope(std::string_view text) {
    for (const auto& [scope, name] : scope_names) {
        if (name == text) return scope;
    }
    return std::nullopt;
}

std::vector<std::string_view> Scopes::texts() const {
    std::vector<std::string_view> texts;
    for (const auto& [scope, name] : scope_names) {
        if (names(scope)) texts.push_back(name);
    }
    return texts;
}

std::string_view to_text(CallerKind kind) {
    return kind_names[static_cast<std::size_t>(kind)];
}

std::optional<CallerKind> parse_caller_kind(std::string_view text) {
    for (std::size_t i = 0; i < kind_names.size(); ++i) {
        if (kind_names[i] == text) return static_cast<CallerKind>(i);
    }
    return std::nullopt;
}

std::string actor_name(const Caller& caller) {
    if (caller.name.empty()) return "anonymous";
    return std::string(to_text(caller.kind)) + ":" + caller.name;
}

}  // namespace sluice
