// Maintenance of the whole engine or of one tenant.
#include "application/limits/pauses.hpp"
#include "interfaces/http/native_limits/handlers.hpp"
#include "interfaces/http/native_limits/limit_json.hpp"
#include "interfaces/http/native_limits/limit_writes.hpp"
#include "interfaces/http/requests/fields.hpp"
#include "interfaces/http/toolkit/answers.hpp"
#include "interfaces/http/toolkit/caller.hpp"

namespace sluice::http::native {
namespace {

Result<LimitAction> read_maintenance(const Call& call,
                                     std::initializer_list<std::string_view> members) {
    auto action = read_limit_action(call.request, members);
    if (!action) return action.error();
    if (auto refusal = settle_tenant(*call.caller, *action)) return *std::move(refusal);
    return action;
}

}  // namespace

void list_maintenance(Call call) {
    const auto params = read_query(call.request, {"tenant"});
    if (!params) return send_refusal(call, params.error());
    list_rules(std::move(call), "maintenance", *params,
               [](const LimitRule& rule) { return rule.kind == LimitKind::maintenance; });
}

void begin_maintenance(Call call) {
    const auto action = read_maintenance(call, {"tenant", "until", "submits"});
    if (!action) return send_refusal(call, action.error());
    LimitRule rule{.id = {}, .kind = LimitKind::maintenance};
    rule.scope.tenant = action->tenant.value_or("");
    rule.refuses_submits = action->refuses_submits;
    rule.until = action->until;
    const auto match = IfMatch::read(call.request);
    if (!match) return send_refusal(call, match.error());
    const bool dry_run = action->write.dry_run;
    const auto decide = [rule, named = action->named, match = match->check(),
                         why = reason_of(*call.caller, action->write)](EntityChanges& changes) {
        return put_pause(changes, rule, why, named, match);
    };
    post_limits(std::move(call), dry_run, decide,
                [dry_run](const LimitAnswer& answer) { return rule_response(answer, dry_run); });
}

void end_maintenance(Call call) {
    const auto action = read_maintenance(call, {"tenant"});
    if (!action) return send_refusal(call, action.error());
    const auto match = IfMatch::read(call.request);
    if (!match) return send_refusal(call, match.error());
    end_pauses_of(std::move(call),
                  {.kind = LimitKind::maintenance, .tenant = action->tenant.value_or("")},
                  action->write, match->check());
}

}  // namespace sluice::http::native
