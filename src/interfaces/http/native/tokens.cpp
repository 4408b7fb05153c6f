// Access tokens: made, listed and revoked by admins; and the caller of a request.
#include "application/access/access_tokens.hpp"
#include "interfaces/http/native/handlers.hpp"
#include "interfaces/http/native/token_json.hpp"
#include "interfaces/http/requests/fields.hpp"
#include "interfaces/http/toolkit/answers.hpp"
#include "interfaces/http/toolkit/caller.hpp"
#include "json/json_writer.hpp"

namespace sluice::http::native {
namespace {

Response token_response(int status, const AccessToken& token, Timestamp now,
                        const std::string& text) {
    Response response = json(status, token_json(token, now, text));
    response.headers.emplace_back("Cache-Control", "no-store");
    return response;
}

}  // namespace

void create_token(Call call) {
    auto wanted =
        read_new_token(body_or_empty_object(call.request), *call.caller, call.app.clock.now());
    if (!wanted) return send_refusal(call, wanted.error());
    const std::string secret = call.app.new_secret();
    wanted->secret = sha256(secret);
    const auto decide = [by = call.caller, wanted = *std::move(wanted)](EntityChanges& changes) {
        return sluice::create_token(changes, *by, wanted);
    };
    call.app.commands.post_one<EntityAction>(
        {{}, decide}, [call, secret](const Result<EntityAnswer>& created) {
            if (!created) return send_refusal(call, created.error());
            const AccessToken token = read_token(*created->entity);
            call.reply.send(
                token_response(201, token, call.app.clock.now(), token_text(token.id, secret)));
        });
}

void list_tokens(Call call) {
    const auto params = read_query(call.request, {"tenant"});
    if (!params) return send_refusal(call, params.error());
    auto tenant = tenant_to_look_in(call, *params);
    if (!tenant) return send_refusal(call, tenant.error());
    const auto question = [by = call.caller, tenant = *std::move(tenant),
                           now = call.app.clock.now()](JobReader& reader) -> Result<std::string> {
        return token_list_json(sluice::list_tokens(reader.entities(), *by, tenant), now);
    };
    call.app.queries.ask<std::string>(question, [call](Result<std::string> text) {
        if (!text) return send_refusal(call, text.error());
        call.reply.send(json(200, *std::move(text)));
    });
}

void revoke_token(Call call) {
    const auto decide = [by = call.caller,
                         id = std::string(call.param(0))](EntityChanges& changes) {
        return sluice::revoke_token(changes, *by, id);
    };
    call.app.commands.post_one<EntityAction>(
        {{token_key(call.param(0))}, decide}, [call](const Result<EntityAnswer>& revoked) {
            if (!revoked) return send_refusal(call, revoked.error());
            const AccessToken token = read_token(*revoked->entity);
            call.app.access.shut_out(token.id);
            call.reply.send(token_response(200, token, call.app.clock.now(), ""));
        });
}

void whoami(Call call) {
    Response response;
    response.body = json_object_text([&](JsonWriter& json) {
        write_caller(json, *call.caller);
        json.field("credential", call.caller->credential);
    });
    call.reply.send(std::move(response));
}

}  // namespace sluice::http::native
