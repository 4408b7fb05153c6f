// Access tokens: made, listed and revoked by admins; and who one is.
#include "application/access_tokens.hpp"
#include "interfaces/http/answers.hpp"
#include "interfaces/http/caller.hpp"
#include "interfaces/http/native/fields.hpp"
#include "interfaces/http/native/handlers.hpp"
#include "interfaces/http/native/token_json.hpp"
#include "json/json_writer.hpp"

namespace sluice::http::native {
namespace {

Response token_response(int status, const AccessToken& token, Timestamp now,
                        const std::string& text) {
    Response response = json(status, token_json(token, now, text));
    response.headers.emplace_back("Cache-Control", "no-store");
    return response;
}

void refuse(const Call& call, const Error& error) {
    call.reply.send(problem_of(error, call.request.request_id));
}

}  // namespace

void create_token(Call call) {
    auto wanted =
        read_new_token(body_or_empty_object(call.request), *call.caller, call.app.clock.now());
    if (!wanted) return refuse(call, wanted.error());
    const std::string secret = call.app.new_secret();
    wanted->secret = sha256(secret);
    const auto decide = [by = call.caller, wanted = *std::move(wanted)](EntityDesk& desk) {
        return sluice::create_token(desk, *by, wanted);
    };
    call.app.commands.post_one<EntityAction>(
        {{}, decide}, [call, secret](const Result<EntityAnswer>& created) {
            if (!created) return refuse(call, created.error());
            const AccessToken token = read_token(*created->entity);
            call.reply.send(
                token_response(201, token, call.app.clock.now(), token_text(token.id, secret)));
        });
}

void list_tokens(Call call) {
    const auto params = read_query(call.request, {"tenant"});
    if (!params) return refuse(call, params.error());
    auto tenant = tenant_to_look_in(call, *params);
    if (!tenant) return refuse(call, tenant.error());
    const auto question = [by = call.caller, tenant = *std::move(tenant),
                           now = call.app.clock.now()](JobReader& reader) -> Result<std::string> {
        return token_list_json(sluice::list_tokens(reader.entities(), *by, tenant), now);
    };
    call.app.queries.ask<std::string>(question, [call](Result<std::string> text) {
        if (!text) return refuse(call, text.error());
        call.reply.send(json(200, *std::move(text)));
    });
}

void revoke_token(Call call) {
    const auto decide = [by = call.caller, id = std::string(call.id)](EntityDesk& desk) {
        return sluice::revoke_token(desk, *by, id);
    };
    call.app.commands.post_one<EntityAction>(
        {{token_key(call.id)}, decide}, [call](const Result<EntityAnswer>& revoked) {
            if (!revoked) return refuse(call, revoked.error());
            const AccessToken token = read_token(*revoked->entity);
            call.app.access.shut_out(token.id);
            call.reply.send(token_response(200, token, call.app.clock.now(), ""));
        });
}

void whoami(Call call) {
    Response response;
    JsonWriter json(response.body);
    json.begin_object();
    write_caller(json, *call.caller);
    json.field("credential", call.caller->credential);
    json.end_object();
    call.reply.send(std::move(response));
}

}  // namespace sluice::http::native
