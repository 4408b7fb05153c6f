#include "interfaces/http/requests/read_action.hpp"

#include "application/toolkit/names.hpp"
#include "interfaces/http/requests/fields.hpp"
#include "interfaces/http/toolkit/caller.hpp"

namespace sluice::http {
namespace {

struct Action {
    std::string reason{};
    std::string ticket{};
    bool dry_run = false;
};

// Reads the reason, and for the release of a lease the other members, too.
Result<Action> read_body(const Request& request, bool is_release) {
    JsonReader reader = body_reader(request);
    Action action;
    UnknownFields unknown;
    reader.object([&](std::string_view key) {
        const bool is_known =
            key == "reason" || (is_release && (key == "ticket" || key == "dry_run"));
        if (!is_known) return unknown.add(key);
        if (reader.null()) return;
        if (key == "dry_run") {
            action.dry_run = reader.boolean();
        } else if (key == "ticket") {
            action.ticket = reader.string();
        } else {
            action.reason = reader.string();
            const bool is_long = !is_release && action.reason.size() > 2000;
            if (is_long) reader.fail("has more than 2000 bytes", ErrorCode::too_large);
        }
    });
    unknown.refuse(reader);
    if (const auto done = reader.finish(); !done) return done.error();
    return action;
}

// The job in the path, as far as the caller may look for it.
struct Target {
    JobId job{};
    std::string tenant{};
};

Result<Target> read_target(const Call& call) {
    const auto id = job_id_in_path(call);
    if (!id) return id.error();
    const auto params = read_query(call.request, {"tenant"});
    if (!params) return params.error();
    auto tenant = tenant_to_look_in(call, *params);
    if (!tenant) return tenant.error();
    return Target{*id, *std::move(tenant)};
}

}  // namespace

Result<CancelJob> read_cancel(const Call& call) {
    auto target = read_target(call);
    if (!target) return target.error();
    auto action = read_body(call.request, false);
    if (!action) return action.error();
    return CancelJob{.job = target->job,
                     .tenant = std::move(target->tenant),
                     .reason = std::move(action->reason),
                     .actor = actor_name(*call.caller),
                     .is_admin = call.caller->is_admin()};
}

Result<ReleaseLease> read_release_lease(const Call& call) {
    auto target = read_target(call);
    if (!target) return target.error();
    auto action = read_body(call.request, true);
    if (!action) return action.error();
    if (auto refusal = check_reason_text("reason", action->reason)) return *std::move(refusal);
    if (auto refusal = check_ticket_text("ticket", action->ticket)) return *std::move(refusal);
    return ReleaseLease{.job = target->job,
                        .tenant = std::move(target->tenant),
                        .reason = std::move(action->reason),
                        .actor = actor_name(*call.caller),
                        .ticket = std::move(action->ticket),
                        .dry_run = action->dry_run};
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
