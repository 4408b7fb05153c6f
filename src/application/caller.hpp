#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "domain/time.hpp"

namespace sluice {

// What a caller may do, in the words of seed 003. `work` is not given by name: workers have it.
enum class Scope : unsigned {
    read = 1,      // look at jobs and what they are about
    operate = 2,   // submit, cancel, replay, change entities; and read
    quota = 4,     // change quotas and limits
    backfill = 8,  // rebuild what is past
    admin = 16,    // everything
    work = 32,     // claim jobs and say what became of them
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

    // Whether what the scope stands for is allowed: an admin may do everything, and who operates
    // may read.
    constexpr bool allow(Scope scope) const {
        if (names(Scope::admin) || names(scope)) return true;
        return scope == Scope::read && names(Scope::operate);
    }

    // Whether all that the others allow is allowed here, too.
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
        if (names(Scope::operate)) all.add(Scope::read);
        return all;
    }

    unsigned bits_ = 0;
};

enum class CallerKind { user, worker, service };
std::string_view to_text(CallerKind kind);
std::optional<CallerKind> parse_caller_kind(std::string_view text);

// Who asks, and what they may do.
struct Caller {
    std::string tenant = "default";  // whose jobs they see and make
    bool any_tenant = false;         // they may also ask for others, or for all
    std::string name{};              // as members of apps are named; empty: who runs this machine
    CallerKind kind = CallerKind::user;
    Scopes scopes{};
    std::vector<std::string> types{};  // of the jobs that they may work on; sorted; empty: any
    // What they showed: "token 5f…", "jwt", or empty when nothing was asked for. Never a secret.
    std::string credential{};
    Timestamp expires = never;

    bool is_admin() const { return scopes.allow(Scope::admin); }

    bool operator==(const Caller&) const = default;
};

using CallerPtr = std::shared_ptr<const Caller>;  // shared: requests, streams, and what is known

// How history names them.
std::string actor_name(const Caller& caller);

}  // namespace sluice
