// Quotas of tenants and profiles, and who is given which profile.
#include "application/limits/stored_rules.hpp"
#include "application/toolkit/names.hpp"
#include "domain/values/percent_encoding.hpp"
#include "interfaces/http/native_limits/handlers.hpp"
#include "interfaces/http/native_limits/limit_json.hpp"
#include "interfaces/http/native_limits/limit_writes.hpp"
#include "interfaces/http/requests/fields.hpp"
#include "interfaces/http/toolkit/answers.hpp"
#include "interfaces/http/toolkit/caller.hpp"

namespace sluice::http::native {
namespace {

void set_paused(Call call, bool paused) {
    const auto action = read_limit_action(call.request, {});
    if (!action) return send_refusal(call, action.error());
    const auto match = IfMatch::read(call.request);
    if (!match) return send_refusal(call, match.error());
    const bool dry_run = action->write.dry_run;
    const auto decide = [caller = call.caller, id = std::string(call.param(0)), paused,
                         match = *match, why = reason_of(*call.caller, action->write)](
                            EntityChanges& changes) -> Result<LimitAnswer> {
        auto rule = rule_to_change(changes, *caller, id);
        if (rule && rule->kind != LimitKind::quota) {
            return Error{ErrorCode::not_found, "there is no quota " + id, ""};
        }
        if (!rule) return rule.error();
        if (auto refusal = match.refuse(rule->revision)) return *std::move(refusal);
        rule->paused = paused;
        return put_rule(changes, *std::move(rule), why);
    };
    post_limits(std::move(call), dry_run, decide,
                [dry_run](const LimitAnswer& answer) { return rule_response(answer, dry_run); });
}

// Of the tenants of a profile, a caller of one tenant sees its own.
std::string profiles_text(const std::vector<StoredProfile>& profiles, const Caller& caller) {
    return json_object_text([&](JsonWriter& json) {
        json.key("profiles");
        json.begin_array();
        for (const StoredProfile& profile : profiles) {
            std::vector<std::string> shown = profile.tenants;
            if (!caller.any_tenant) {
                std::erase_if(shown, [&](const auto& tenant) { return tenant != caller.tenant; });
                if (shown.empty()) continue;
            }
            json.begin_object();
            json.field("name", profile.name);
            json.list("tenants", shown);
            json.field("revision", profile.revision);
            json.end_object();
        }
        json.end_array();
    });
}

Response profile_response(const LimitAnswer& answer, bool dry_run) {
    const bool is_there = answer.revision > 0;
    Response response =
        json(200, json_object_text([&](JsonWriter& json) {
                 json.field("name", answer.profile);
                 json.list("tenants", answer.tenants);
                 json.field("revision", is_there ? std::optional(answer.revision) : std::nullopt);
                 write_effect(json, answer, dry_run);
             }));
    if (is_there && !dry_run) response.headers.emplace_back("ETag", etag_of(answer.revision));
    return response;
}

}  // namespace

void list_quotas(Call call) {
    const auto params = read_query(call.request, {"tenant"});
    if (!params) return send_refusal(call, params.error());
    list_rules(std::move(call), "quotas", *params,
               [](const LimitRule& rule) { return rule.kind == LimitKind::quota; });
}
void create_quota(Call call) {
    create_rule(std::move(call), RuleForm::quota, "/api/v1/quotas");
}
void get_quota(Call call) {
    get_rule(std::move(call), RuleForm::quota);
}
void change_quota(Call call) {
    change_rule(std::move(call), RuleForm::quota);
}
// One route, since a profile may be called "lift".
void act_on_quota(Call call) {
    const std::string_view action = call.param(1);
    if (action == "lift") return lift_rule_of(std::move(call), RuleForm::quota);
    if (action == "pause" || action == "resume") {
        return set_paused(std::move(call), action == "pause");
    }
    send_refusal(call,
                 {ErrorCode::not_found, "a quota has the actions lift, pause and resume", ""});
}

void list_profiles(Call call) {
    using Profiles = std::vector<StoredProfile>;
    call.app.queries.ask<Profiles>(
        [](JobReader& reader) -> Result<Profiles> { return stored_profiles(reader.entities()); },
        [call](const Result<Profiles>& profiles) {
            if (!profiles) return send_refusal(call, profiles.error());
            call.reply.send(json(200, profiles_text(*profiles, *call.caller)));
        });
}

void set_profile(Call call) {
    auto name = percent_decode(call.param(0));
    if (!name) {
        return send_refusal(call,
                            {ErrorCode::malformed, "the name in the path cannot be read", ""});
    }
    const auto action = read_limit_action(call.request, {"tenants"});
    if (!action) return send_refusal(call, action.error());
    if (!action->tenants) {
        return send_refusal(call,
                            refuse("tenants", "must be given; an empty list removes the profile"));
    }
    const auto match = IfMatch::read(call.request);
    if (!match) return send_refusal(call, match.error());
    const bool dry_run = action->write.dry_run;
    const auto decide = [name = *std::move(name), tenants = *action->tenants,
                         match = match->check(),
                         why = reason_of(*call.caller, action->write)](EntityChanges& changes) {
        return put_profile(changes, name, tenants, why, match);
    };
    post_limits(std::move(call), dry_run, decide,
                [dry_run](const LimitAnswer& answer) { return profile_response(answer, dry_run); });
}

}  // namespace sluice::http::native
