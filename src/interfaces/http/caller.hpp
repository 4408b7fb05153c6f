#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "application/commands.hpp"
#include "interfaces/http/app.hpp"
#include "interfaces/http/url.hpp"

// What a request is about, by who sends it.
namespace sluice::http {

// Who is let through without being asked; they may do nothing more.
CallerPtr anonymous_caller();

// What is wrong with the header X-Sluice-User, if anything: it is for engines that ask for no
// tokens, and must be a name.
std::optional<std::string_view> complaint_about_name(const Request& request, bool is_open);

// Refuses a tenant that the caller may not ask about.
std::optional<Error> refuse_tenant(const Caller& caller, const std::string& tenant,
                                   std::string_view pointer = {});

// The tenant that is named as a parameter, or the caller's own.
Result<std::string> tenant_asked_for(const Call& call, const QueryParams& params);

// Whose jobs a request about one job may find: who may ask across tenants, and names none, may find
// any, for which an empty text stands.
Result<std::string> tenant_to_look_in(const Call& call, const QueryParams& params);

// The jobs that the caller may speak about as their worker.
WorkerBounds bounds_of(const Caller& caller);

// Narrows the claim to what the caller may run; refuses one for something else.
std::optional<Error> bind_claim(ClaimJobs& claim, const Caller& caller);

// A place among those of its tenant who wait for jobs, to be kept until the claim is answered.
// Nothing: too many wait. A claim that does not wait needs no place.
inline constexpr std::string_view too_many_wait =
    "too many claims of this tenant wait for jobs; ask without waiting";
std::optional<Holdings::Place> place_for_claim(const Call& call, const ClaimJobs& claim);

bool is_loopback(std::string_view address);

}  // namespace sluice::http
