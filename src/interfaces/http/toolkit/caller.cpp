#include "interfaces/http/toolkit/caller.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "application/toolkit/names.hpp"
#include "domain/values/utf8.hpp"

namespace sluice::http {

CallerPtr anonymous_caller() {
    static const CallerPtr anonymous = std::make_shared<Caller>();
    return anonymous;
}

std::optional<std::string_view> complaint_about_name(const Request& request, bool is_open) {
    const std::string_view* name = request.header("X-Sluice-User");
    if (!name) return std::nullopt;
    if (!is_open) return "X-Sluice-User is not taken here: the access token says who you are";
    if (!name->empty() && is_utf8(*name) && !check_name("", *name)) return std::nullopt;
    return "X-Sluice-User must be a name: UTF-8 without control characters, up to 200 bytes, not "
           "empty";
}

std::optional<Error> refuse_tenant(const Caller& caller, const std::string& tenant,
                                   std::string_view pointer) {
    if (tenant.starts_with('@')) return check_tenant("tenant", tenant);
    if (caller.any_tenant || tenant == caller.tenant) return std::nullopt;
    return Error{ErrorCode::forbidden, fmt::format("you may ask for tenant {} only", caller.tenant),
                 std::string(pointer)};
}

Result<std::string> tenant_asked_for(const Call& call, const QueryParams& params) {
    const std::string* tenant = params.find("tenant");
    if (!tenant) return call.caller->tenant;
    if (auto refusal = refuse_tenant(*call.caller, *tenant)) return *std::move(refusal);
    return *tenant;
}

Result<std::string> tenant_to_look_in(const Call& call, const QueryParams& params) {
    if (!params.find("tenant") && call.caller->any_tenant) return std::string();
    return tenant_asked_for(call, params);
}

std::string source_of(const Caller& caller) {
    const bool is_service = caller.kind == CallerKind::service && !caller.credential.empty();
    return is_service ? caller.name : std::string();
}

WorkerBounds bounds_of(const Caller& caller) {
    return {caller.any_tenant ? std::string() : caller.tenant, caller.types};
}

std::optional<Error> bind_claim(ClaimJobs& claim, const Caller& caller) {
    if (auto refusal = refuse_tenant(caller, claim.filter.tenant, "/tenant")) return refusal;
    if (!caller.credential.empty()) claim.token_name = caller.name;
    if (caller.types.empty()) return std::nullopt;
    std::vector<std::string>& types = claim.filter.types;
    if (types.empty()) types = caller.types;
    if (std::includes(caller.types.begin(), caller.types.end(), types.begin(), types.end())) {
        return std::nullopt;
    }
    return Error{
        ErrorCode::forbidden,
        fmt::format("this token is for jobs of these types: {}", fmt::join(caller.types, ", ")),
        "/types"};
}

std::optional<Holdings::Share> share_for_claim(const Call& call, const ClaimJobs& claim) {
    if (!claim.wait_until) return Holdings::Share();
    CallerLimiter& limiter = call.app.limiter;
    Holdings::Share share =
        limiter.waiting_claims.take(claim.filter.tenant, limiter.limits.waiting_claims_per_tenant);
    return share ? std::optional(std::move(share)) : std::nullopt;
}

bool is_loopback(std::string_view address) {
    return address.starts_with("127.") || address == "::1";
}

}  // namespace sluice::http
