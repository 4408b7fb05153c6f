#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "domain/values/time.hpp"

namespace sluice {

// The permissions of a caller, with the names of seed 003. `work` is not given by name: workers
// have it.
enum class Scope : unsigned {
    read = 1,      // jobs and entities
    operate = 2,   // submit, cancel, replay, change entities; and read
    quota = 4,     // change quotas and limits; and read
    backfill = 8,  // rebuild past data
    admin = 16,    // everything
    work = 32,     // claim jobs and report on them
};

// "orch:read" and so on.
std::string_view to_text(Scope scope);
std::optional<Scope> parse_scope(std::string_view text);

class Scopes {
  public:
    constexpr Scopes() = default;
    constexpr Scopes(std::initializer_list<Scope> scopes) {
        for (const Scope scope : scopes) add(scope);
    }

    constexpr void add(Scope scope) { bits_ |= static_cast<unsigned>(scope); }

    // Whether the scope is allowed: an admin may do everything, and a caller with `operate` or
    // `quota` may read.
    constexpr bool allow(Scope scope) const {
        return names(Scope::admin) || with_implied().names(scope);
    }

    // Whether everything that the others allow is allowed here, too.
    constexpr bool cover(Scopes others) const {
        return names(Scope::admin) || (others.bits_ & ~with_implied().bits_) == 0;
    }

    constexpr bool names(Scope scope) const { return (bits_ & static_cast<unsigned>(scope)) != 0; }
    constexpr bool empty() const { return bits_ == 0; }
    std::vector<std::string_view> texts() const;

    constexpr bool operator==(const Scopes&) const = default;

  private:
    constexpr Scopes with_implied() const {
        Scopes all = *this;
        if (names(Scope::operate) || names(Scope::quota)) all.add(Scope::read);
        return all;
    }

    unsigned bits_ = 0;
};

enum class CallerKind { user, worker, service };
std::string_view to_text(CallerKind kind);
std::optional<CallerKind> parse_caller_kind(std::string_view text);

// The caller of a request, with its permissions.
struct Caller {
    std::string tenant = "default";  // of the jobs that it sees and makes
    bool any_tenant = false;         // it may also ask for another tenant, or for all
    std::string name{};              // as members of apps are named; empty: the local operator
    CallerKind kind = CallerKind::user;
    Scopes scopes{};
    std::vector<std::string> types{};  // of the jobs that it may work on; sorted; empty: any
    // The credential that was shown: "token 5f…", "jwt", or empty when none was needed. Never a
    // secret.
    std::string credential{};
    Timestamp expires = never;

    bool is_admin() const { return scopes.allow(Scope::admin); }

    bool operator==(const Caller&) const = default;
};

using CallerPtr = std::shared_ptr<const Caller>;  // by requests, streams and caches

// The caller's name in history.
std::string actor_name(const Caller& caller);

}  // namespace sluice
