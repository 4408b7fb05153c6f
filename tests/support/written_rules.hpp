#pragma once

#include <string>

#include "application/ports/store.hpp"
#include "domain/limits/limit_rules.hpp"

// Rules about what may run, written as entities of a session like requests about limits do, for
// tests of stores.
namespace sluice {

// A rule of that id with nothing in it: "r" becomes 24 digits.
LimitRule limit_rule(const std::string& name);

// Adds the rule, or replaces the one with its id, and tells the session's limits.
void write_rule(Session& session, const LimitRule& rule, Timestamp now);
// Ends it.
void lift_rule(Session& session, const LimitRule& rule, Timestamp now);

}  // namespace sluice
