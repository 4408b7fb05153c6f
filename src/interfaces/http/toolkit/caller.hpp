#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "application/ports/commands.hpp"
#include "interfaces/http/message/url.hpp"
#include "interfaces/http/toolkit/app.hpp"

// The scope of a request, by its caller.
namespace sluice::http {

// The caller of routes that need no token; it has no other rights.
CallerPtr anonymous_caller();

// The problem with the header X-Sluice-User, if there is one: it is for engines that ask for no
// tokens, and must be a name.
std::optional<std::string_view> complaint_about_name(const Request& request, bool is_open);

// Refuses a tenant that the caller may not ask about.
std::optional<Error> refuse_tenant(const Caller& caller, const std::string& tenant,
                                   std::string_view pointer = {});

// Whom limits are told to: a caller of one tenant learns nothing of what others use.
inline Viewer viewer_of(const Caller& caller) {
    return caller.any_tenant ? Viewer::any_tenant : Viewer::one_tenant;
}

// The tenant that is named as a parameter, or the caller's own.
Result<std::string> tenant_asked_for(const Call& call, const QueryParams& params);

// The tenant whose jobs a request about one job may find: a caller that may ask across tenants, and
// names none, may find any, for which an empty text stands.
Result<std::string> tenant_to_look_in(const Call& call, const QueryParams& params);

// The source of jobs that the caller submits without naming one: a service is known by its name.
std::string source_of(const Caller& caller);

// The jobs that the caller may report on as their worker.
WorkerBounds bounds_of(const Caller& caller);

// Narrows the claim to the jobs that the caller may run; refuses a claim for others.
std::optional<Error> bind_claim(ClaimJobs& claim, const Caller& caller);

// A share of its tenant's waiting claims, to be kept until the claim is answered. Nothing: too many
// wait. A claim that does not wait needs no share.
inline constexpr std::string_view too_many_wait =
    "too many claims of this tenant wait for jobs; ask without waiting";
std::optional<Holdings::Share> share_for_claim(const Call& call, const ClaimJobs& claim);

bool is_loopback(std::string_view address);

}  // namespace sluice::http
