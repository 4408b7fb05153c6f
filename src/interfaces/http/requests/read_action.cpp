#include "interfaces/http/requests/read_action.hpp"

#include "interfaces/http/requests/fields.hpp"
#include "interfaces/http/toolkit/caller.hpp"

namespace sluice::http {
namespace {

Result<std::string> read_reason(const Request& request) {
    JsonReader reader = body_reader(request);
    std::string reason;
    UnknownFields unknown;
    reader.object([&](std::string_view key) {
        if (key != "reason") return unknown.add(key);
        if (reader.null()) return;
        reason = reader.string();
        if (reason.size() > 2000) reader.fail("has more than 2000 bytes", ErrorCode::too_large);
    });
    unknown.refuse(reader);
    if (const auto done = reader.finish(); !done) return done.error();
    return reason;
}

}  // namespace

Result<CancelJob> read_cancel(const Call& call) {
    const auto id = job_id_in_path(call);
    if (!id) return id.error();
    const auto params = read_query(call.request, {"tenant"});
    if (!params) return params.error();
    auto tenant = tenant_to_look_in(call, *params);
    if (!tenant) return tenant.error();
    auto reason = read_reason(call.request);
    if (!reason) return reason.error();
    return CancelJob{.job = *id,
                     .tenant = *std::move(tenant),
                     .reason = *std::move(reason),
                     .actor = actor_name(*call.caller),
                     .is_admin = call.caller->is_admin()};
}

Result<ReplayJob> read_replay(const Call& call) {
    auto asked = read_cancel(call);  // of the same form
    if (!asked) return asked.error();
    auto key = idempotency_key(call.request);
    if (!key) return key.error();
    return ReplayJob{asked->job,
                     std::move(asked->tenant),
                     std::move(asked->reason),
                     std::move(asked->actor),
                     *std::move(key),
                     body_digest(call.request)};
}

}  // namespace sluice::http
