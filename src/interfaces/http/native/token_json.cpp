#include "interfaces/http/native/token_json.hpp"

#include "interfaces/http/requests/fields.hpp"

namespace sluice::http::native {
namespace {

constexpr std::size_t types_max = 200;

Scopes read_scopes(JsonReader& reader) {
    Scopes scopes;
    reader.array([&](std::size_t) {
        const auto scope = parse_scope(reader.string());
        if (scope) return scopes.add(*scope);
        reader.fail("must be orch:read, orch:operate, orch:quota, orch:backfill or orch:admin");
    });
    return scopes;
}

CallerKind read_kind(JsonReader& reader) {
    const auto kind = parse_caller_kind(reader.string());
    if (!kind) reader.fail("must be user, worker or service");
    return kind.value_or(CallerKind::user);
}

std::string_view state_of(const AccessToken& token, Timestamp now) {
    if (token.is_revoked) return "revoked";
    return token.is_valid(now) ? "active" : "expired";
}

}  // namespace

Result<NewToken> read_new_token(std::string_view body, const Caller& by, Timestamp now) {
    NewToken wanted;
    wanted.tenant = by.tenant;
    wanted.expires = now + token_life;
    JsonReader reader(body, Reading::strict, body_name);
    UnknownFields unknown;
    reader.object([&](std::string_view key) {
        if (key == "expires_at" && reader.null()) {
            wanted.expires = never;
        } else if (reader.null()) {
            return;  // the same as not given
        } else if (key == "name") {
            wanted.name = reader.string();
        } else if (key == "kind") {
            wanted.kind = read_kind(reader);
        } else if (key == "tenant") {
            wanted.tenant = reader.string();
        } else if (key == "all_tenants") {
            wanted.any_tenant = reader.boolean();
        } else if (key == "scopes") {
            wanted.scopes = read_scopes(reader);
        } else if (key == "job_types") {
            wanted.types = read_strings(reader, types_max);
        } else if (key == "expires_at") {
            wanted.expires = read_timestamp(reader);
        } else {
            unknown.add(key);
        }
    });
    unknown.refuse(reader);
    if (const auto done = reader.finish(); !done) return done.error();
    return wanted;
}

void write_caller(JsonWriter& json, const Caller& caller) {
    json.field("name", caller.name);
    json.field("kind", to_text(caller.kind));
    json.field("tenant", caller.tenant);
    json.field("all_tenants", caller.any_tenant);
    json.list("scopes", caller.scopes.texts());
    json.list("job_types", caller.types);
    json.field("expires_at",
               caller.expires == never ? std::nullopt : std::optional(caller.expires));
}

void write_token(JsonWriter& json, const AccessToken& token, Timestamp now) {
    json.field("id", token.id);
    write_caller(json, token.caller);
    json.field("state", state_of(token, now));
    json.field("created_at", token.created_at);
    json.field("created_by", token.created_by);
    json.field("revoked_at", token.revoked_at);
}

std::string token_list_json(const std::vector<AccessToken>& tokens, Timestamp now) {
    return json_object_text([&](JsonWriter& json) {
        json.objects("tokens", tokens,
                     [&](const AccessToken& token) { write_token(json, token, now); });
    });
}

std::string token_json(const AccessToken& token, Timestamp now, std::string_view text) {
    return json_object_text([&](JsonWriter& json) {
        write_token(json, token, now);
        if (!text.empty()) json.field("token", text);
    });
}

}  // namespace sluice::http::native
