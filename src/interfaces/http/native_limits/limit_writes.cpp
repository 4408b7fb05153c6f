#include "interfaces/http/native_limits/limit_writes.hpp"

#include <fmt/format.h>

#include "application/limits/stored_rules.hpp"
#include "interfaces/http/native_limits/limit_json.hpp"
#include "interfaces/http/requests/fields.hpp"
#include "interfaces/http/toolkit/answers.hpp"
#include "interfaces/http/toolkit/caller.hpp"

namespace sluice::http::native {
namespace {

std::string id_in_path(const Call& call) {
    return std::string(call.param(0));
}

Error no_such_rule(const std::string& id, RuleForm form = RuleForm::limit) {
    return {ErrorCode::not_found,
            fmt::format("there is no {} {}", form == RuleForm::quota ? "quota" : "rule", id), ""};
}

bool has_form(const LimitRule& rule, RuleForm form) {
    return form == RuleForm::limit || rule.kind == LimitKind::quota;
}

// The path at which a rule of this kind is changed; empty: at that of rules in general.
std::string_view path_of_changes(LimitKind kind) {
    switch (kind) {
        case LimitKind::quota: return "/api/v1/quotas/{id}";
        case LimitKind::maintenance: return "/api/v1/maintenance";
        case LimitKind::block: return "/api/v1/tenants/{id}/block";
        case LimitKind::throttle:
        case LimitKind::limit: break;
    }
    return "";
}

std::optional<Error> refuse_form(const LimitRule& rule, RuleForm form) {
    if (form == RuleForm::quota) return std::nullopt;
    const std::string_view path = path_of_changes(rule.kind);
    if (path.empty()) return std::nullopt;
    return Error{
        ErrorCode::conflict,
        fmt::format("this is a rule of kind {}: change it with POST {}", to_text(rule.kind), path),
        ""};
}

AskLimits asked_rules(const Call& call, std::string tenant) {
    const bool is_bound = !call.caller->any_tenant;
    return {.tenant = std::move(tenant), .only_own = is_bound};
}

}  // namespace

std::string etag_of(std::int64_t revision) {
    return fmt::format("\"{}\"", revision);
}

std::optional<Error> refuse_rule(const Caller& caller, const LimitRule& rule,
                                 std::string_view pointer) {
    const bool is_block = rule.kind == LimitKind::block;
    if ((is_block || rule.kind == LimitKind::maintenance) && !caller.is_admin()) {
        return Error{ErrorCode::forbidden,
                     fmt::format("rules of kind {} need orch:admin", to_text(rule.kind)), ""};
    }
    if (caller.any_tenant) return std::nullopt;
    if (is_block) return Error{ErrorCode::forbidden, "this needs a token for all tenants", ""};
    if (!rule.profile.empty()) {
        return Error{ErrorCode::forbidden, "profiles need a token for all tenants", "/profile"};
    }
    // A tenant of before may be called "a*", which in a rule is the beginning of names.
    const bool is_own = rule.scope.tenant == caller.tenant && !is_prefix(caller.tenant);
    if (is_own) return std::nullopt;
    return Error{
        ErrorCode::forbidden,
        fmt::format("you may change rules of tenant {} only, and this one is for {}", caller.tenant,
                    rule.scope.tenant.empty() ? "all tenants" : rule.scope.tenant),
        std::string(pointer)};
}

std::optional<Error> settle_tenant(const Caller& caller, LimitAction& action) {
    if (!action.tenant && !caller.any_tenant) action.tenant = caller.tenant;
    if (!action.tenant) return std::nullopt;
    if (auto refusal = refuse_tenant(caller, *action.tenant, "/tenant")) return refusal;
    if (!is_prefix(*action.tenant)) return std::nullopt;
    return sluice::refuse("tenant", "must be the name of one tenant, without a * at its end");
}

Result<LimitRule> rule_to_change(EntityChanges& changes, const Caller& caller,
                                 const std::string& id) {
    const std::optional<Entity> stored = changes.find(limit_key(id));
    if (!stored) return no_such_rule(id);
    LimitRule rule = read_rule(*stored);
    const bool is_seen = caller.any_tenant || changes.limit_rules()->is_about(rule, caller.tenant);
    if (!is_seen) return no_such_rule(id);
    if (auto refusal = refuse_rule(caller, rule)) return *std::move(refusal);
    return rule;
}

ChangeReason reason_of(const Caller& caller, const LimitWrite& write) {
    return {.actor = actor_name(caller), .reason = write.reason, .ticket = write.ticket};
}

void post_limits(Call call, bool dry_run, DecideLimits decide, RespondLimits respond) {
    ChangeLimits change{.dry_run = dry_run, .decide = std::move(decide)};
    if (!call.caller->any_tenant) change.only_tenant = call.caller->tenant;
    call.app.commands.post_one<ChangeLimits>(
        std::move(change), [call, respond = std::move(respond)](const Result<LimitAnswer>& answer) {
            if (!answer) return send_refusal(call, answer.error());
            call.reply.send(respond(*answer));
        });
}

Response rule_response(const LimitAnswer& answer, bool dry_run, std::string_view path) {
    LimitRule rule = answer.rules.front();
    const bool is_made = !path.empty() && !dry_run;
    if (answer.is_new && dry_run) rule.id.clear();  // it would get another one
    Response response = json(is_made ? 201 : 200, json_object_text([&](JsonWriter& json) {
                                 write_rule(json, rule);
                                 write_effect(json, answer, dry_run);
                             }));
    if (!dry_run) response.headers.emplace_back("ETag", etag_of(rule.revision));
    if (is_made) response.headers.emplace_back("Location", fmt::format("{}/{}", path, rule.id));
    return response;
}

void create_rule(Call call, RuleForm form, std::string_view path) {
    const bool is_quota = form == RuleForm::quota;
    const LimitRule base{.id = {}, .kind = is_quota ? LimitKind::quota : LimitKind::limit};
    auto request = read_rule_request(call.request.body, call.request.reading, form, base);
    if (!request) return send_refusal(call, request.error());
    LimitRule& rule = request->rule;
    if (!call.caller->any_tenant && rule.scope.tenant.empty() && rule.profile.empty()) {
        rule.scope.tenant = call.caller->tenant;
    }
    if (const auto refusal = refuse_rule(*call.caller, rule, "/tenant")) {
        return send_refusal(call, *refusal);
    }
    const bool dry_run = request->write.dry_run;
    const ChangeReason why = reason_of(*call.caller, request->write);
    const auto decide = [rule, why](EntityChanges& changes) {
        return put_rule(changes, rule, why);
    };
    post_limits(std::move(call), dry_run, decide, [dry_run, path](const LimitAnswer& answer) {
        return rule_response(answer, dry_run, path);
    });
}

void change_rule(Call call, RuleForm form) {
    // Read once on its own, for what is wrong with it whatever the rule is.
    const LimitRule any{.id = id_in_path(call), .rate = LimitRate{.period = std::chrono::hours(1)}};
    const auto checked = read_rule_request(call.request.body, call.request.reading, form, any);
    if (!checked) return send_refusal(call, checked.error());
    const auto match = IfMatch::read(call.request);
    if (!match) return send_refusal(call, match.error());
    const auto decide = [caller = call.caller, id = any.id, form, match = *match,
                         body = std::string(call.request.body), reading = call.request.reading](
                            EntityChanges& changes) -> Result<LimitAnswer> {
        const auto rule = rule_to_change(changes, *caller, id);
        if (!rule) return rule.error();
        if (!has_form(*rule, form)) return no_such_rule(id, form);
        if (auto refusal = refuse_form(*rule, form)) return *std::move(refusal);
        if (auto refusal = match.refuse(rule->revision)) return *std::move(refusal);
        auto request = read_rule_request(body, reading, form, *rule);
        if (!request) return request.error();
        if (auto refusal = refuse_rule(*caller, request->rule, "/tenant")) {
            return *std::move(refusal);
        }
        return put_rule(changes, std::move(request->rule), reason_of(*caller, request->write));
    };
    const bool dry_run = checked->write.dry_run;
    post_limits(std::move(call), dry_run, decide,
                [dry_run](const LimitAnswer& answer) { return rule_response(answer, dry_run); });
}

void lift_rule_of(Call call, RuleForm form) {
    const auto action = read_limit_action(call.request, {});
    if (!action) return send_refusal(call, action.error());
    const auto match = IfMatch::read(call.request);
    if (!match) return send_refusal(call, match.error());
    const bool dry_run = action->write.dry_run;
    const auto decide = [caller = call.caller, id = id_in_path(call), form, match = *match,
                         why = reason_of(*call.caller, action->write)](
                            EntityChanges& changes) -> Result<LimitAnswer> {
        const auto rule = rule_to_change(changes, *caller, id);
        if (!rule) return rule.error();
        if (!has_form(*rule, form)) return no_such_rule(id, form);
        if (auto refusal = match.refuse(rule->revision)) return *std::move(refusal);
        return lift_rule(changes, id, why);
    };
    post_limits(std::move(call), dry_run, decide,
                [dry_run](const LimitAnswer& answer) { return rule_response(answer, dry_run); });
}

void end_pauses_of(Call call, const WhichPause& which, const LimitWrite& write,
                   const CheckRevision& match) {
    // The rules that the caller may be told of, by their tenant.
    SeesTenant sees = [](const std::string&) { return true; };
    if (!call.caller->any_tenant) {
        sees = [own = call.caller->tenant](const std::string& pattern) {
            return covers(pattern, own);
        };
    }
    const bool dry_run = write.dry_run;
    const auto decide = [which, match, sees = std::move(sees),
                         why = reason_of(*call.caller, write)](EntityChanges& changes) {
        return end_pauses(changes, which, why, sees, match);
    };
    post_limits(std::move(call), dry_run, decide, [dry_run](const LimitAnswer& answer) {
        return json(200, json_object_text([&](JsonWriter& json) {
                        json.objects("lifted", answer.rules,
                                     [&](const LimitRule& rule) { write_rule(json, rule); });
                        write_effect(json, answer, dry_run);
                    }));
    });
}

void get_rule(Call call, RuleForm form) {
    const auto params = read_query(call.request, {"tenant"});
    if (!params) return send_refusal(call, params.error());
    auto tenant = tenant_to_look_in(call, *params);
    if (!tenant) return send_refusal(call, tenant.error());
    AskLimits ask = asked_rules(call, *std::move(tenant));
    ask.rule = id_in_path(call);
    call.app.commands.post_one<AskLimits>(ask, [call, form](const Result<LimitsNow>& limits) {
        if (!limits) return send_refusal(call, limits.error());
        if (limits->rules.empty() || !has_form(limits->rules.front().rule, form)) {
            return send_refusal(call, no_such_rule(id_in_path(call), form));
        }
        const RuleUse& use = limits->rules.front();
        Response response = json(200, json_object_text([&](JsonWriter& json) {
                                     write_rule_use(json, use, call.app.clock.now());
                                 }));
        response.headers.emplace_back("ETag", etag_of(use.rule.revision));
        call.reply.send(std::move(response));
    });
}

void list_rules(Call call, std::string_view list, const QueryParams& params,
                std::function<bool(const LimitRule&)> shows) {
    auto tenant = tenant_to_look_in(call, params);
    if (!tenant) return send_refusal(call, tenant.error());
    call.app.commands.post_one<AskLimits>(
        asked_rules(call, *std::move(tenant)),
        [call, list, shows = std::move(shows)](Result<LimitsNow> limits) {
            if (!limits) return send_refusal(call, limits.error());
            std::erase_if(limits->rules, [&](const RuleUse& use) { return !shows(use.rule); });
            call.reply.send(json(200, json_object_text([&](JsonWriter& json) {
                                     json.objects(list, limits->rules, [&](const RuleUse& use) {
                                         write_rule_use(json, use, call.app.clock.now());
                                     });
                                 })));
        });
}

}  // namespace sluice::http::native
