// Sources of jobs: what each has done, and their pauses.
#include "application/limits/pauses.hpp"
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

struct SourceAction {
    std::string source{};
    LimitAction action{};
    CheckRevision match{};
};

Result<std::string> source_in_path(const Call& call) {
    auto source = percent_decode(call.param(0));
    if (source && !is_prefix(*source)) return *std::move(source);
    return Error{ErrorCode::malformed,
                 "the source in the path must be the name of one source, with UTF-8 text as %XX",
                 ""};
}

Result<std::string> source_in_body(const LimitAction& action) {
    if (!action.source) return refuse("source", "is required: the name of the source");
    if (is_prefix(*action.source)) {
        return refuse("source", "must be the name of one source, without a * at its end");
    }
    return *action.source;
}

Result<SourceAction> read_source_action(const Call& call, NameIn where, bool is_pause) {
    const bool is_in_body = where == NameIn::body;
    auto in_path = is_in_body ? Result<std::string>(std::string()) : source_in_path(call);
    if (!in_path) return in_path.error();
    std::vector<std::string_view> members{"tenant"};
    if (is_pause) members.emplace_back("until");
    if (is_in_body) members.emplace_back("source");
    auto action = read_limit_action(call.request, members);
    if (!action) return action.error();
    auto source = is_in_body ? source_in_body(*action) : std::move(in_path);
    if (!source) return source.error();
    if (auto refusal = settle_tenant(*call.caller, *action)) return *std::move(refusal);
    const auto match = IfMatch::read(call.request);
    if (!match) return match.error();
    return SourceAction{*std::move(source), *std::move(action), match->check()};
}

void pause(Call call, NameIn where) {
    const auto read = read_source_action(call, where, true);
    if (!read) return send_refusal(call, read.error());
    const LimitAction& action = read->action;
    LimitRule rule{.id = {}, .kind = LimitKind::throttle};
    rule.scope = {.tenant = action.tenant.value_or(""), .source = read->source};
    rule.until = action.until;
    const bool dry_run = action.write.dry_run;
    const auto decide = [rule, named = action.named, match = read->match,
                         why = reason_of(*call.caller, action.write)](EntityChanges& changes) {
        return put_pause(changes, rule, why, named, match);
    };
    post_limits(std::move(call), dry_run, decide,
                [dry_run](const LimitAnswer& answer) { return rule_response(answer, dry_run); });
}

void resume(Call call, NameIn where) {
    const auto read = read_source_action(call, where, false);
    if (!read) return send_refusal(call, read.error());
    const LimitAction& action = read->action;
    end_pauses_of(
        std::move(call),
        {.kind = LimitKind::throttle, .source = read->source, .tenant = action.tenant.value_or("")},
        action.write, read->match);
}

}  // namespace

void list_sources(Call call) {
    const auto params = read_query(call.request, {"tenant"});
    if (!params) return send_refusal(call, params.error());
    auto tenant = tenant_to_look_in(call, *params);
    if (!tenant) return send_refusal(call, tenant.error());
    call.app.commands.post_one<AskSources>(
        {*std::move(tenant)}, [call](const Result<SourcesNow>& sources) {
            if (!sources) return send_refusal(call, sources.error());
            call.reply.send(
                json(200, json_object_text([&](JsonWriter& json) {
                         json.objects("sources", *sources,
                                      [&](const SourceNow& source) { write_source(json, source); });
                     })));
        });
}

void pause_source(Call call) {
    pause(std::move(call), NameIn::path);
}
void resume_source(Call call) {
    resume(std::move(call), NameIn::path);
}
void pause_named_source(Call call) {
    pause(std::move(call), NameIn::body);
}
void resume_named_source(Call call) {
    resume(std::move(call), NameIn::body);
}

}  // namespace sluice::http::native
