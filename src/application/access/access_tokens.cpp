#include "application/access/access_tokens.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "application/entities/entity_requests.hpp"
#include "json/json_values.hpp"

namespace sluice {
namespace {

constexpr std::string_view own_tenant = "@sluice";
constexpr std::string_view kind = "access_token";
constexpr std::string_view engine_key_kind = "engine_key";
constexpr std::string_view prefix = "slu_";
constexpr std::size_t id_digits = 24;
constexpr std::size_t secret_digits = 43;  // 32 bytes in base64url
constexpr std::size_t types_max = 200;
constexpr int tokens_max = 10'000;

// A caller of one tenant may not see tokens for all tenants.
bool may_see(const Caller& by, const AccessToken& token) {
    return by.any_tenant || (!token.caller.any_tenant && token.caller.tenant == by.tenant);
}

// Names that history uses for callers that the engine itself admits.
constexpr auto engine_names =
    std::to_array<std::string_view>({"admin", "host", "deploy", "node", "deploy-admin"});

std::optional<Error> refuse_tenant(const Caller& by, const NewToken& wanted) {
    if (auto refusal = check_tenant("tenant", wanted.tenant)) return refusal;
    if (wanted.any_tenant && wanted.kind == CallerKind::worker) {
        return refuse("all_tenants", "a worker belongs to one tenant");
    }
    if (by.any_tenant || (!wanted.any_tenant && wanted.tenant == by.tenant)) return std::nullopt;
    return Error{ErrorCode::forbidden,
                 fmt::format("you may make tokens for tenant {} only", by.tenant), "/tenant"};
}

std::optional<Error> refuse_rights(const NewToken& wanted) {
    const bool is_worker = wanted.kind == CallerKind::worker;
    if (is_worker && !wanted.scopes.empty()) {
        return refuse("scopes",
                      "a worker has none: its token is for running jobs and nothing else");
    }
    if (!is_worker && !wanted.types.empty()) {
        return refuse("job_types", "belong to tokens of kind worker");
    }
    return std::nullopt;
}

std::optional<Error> refuse_wish(const Caller& by, NewToken& wanted, Timestamp now) {
    if (wanted.name.empty()) return refuse("name", "is required: say whose token this is");
    if (auto refusal = check_name("name", wanted.name)) return refusal;
    const bool is_engines =
        std::find(engine_names.begin(), engine_names.end(), wanted.name) != engine_names.end();
    if (wanted.kind == CallerKind::service && is_engines) {
        return refuse("name", "is one of the engine's own: choose another");
    }
    if (auto refusal = check_list("job_types", wanted.types, types_max)) return refusal;
    if (wanted.expires <= now) return refuse("expires_at", "must be in the future");
    if (auto refusal = refuse_rights(wanted)) return refusal;
    return refuse_tenant(by, wanted);
}

Attributes attributes_of(const NewToken& wanted, const Caller& by) {
    Attributes attributes{{"name", json_string(wanted.name)},
                          {"kind", json_string(to_text(wanted.kind))},
                          {"tenant", json_string(wanted.tenant)},
                          {"all_tenants", wanted.any_tenant ? "true" : "false"},
                          {"secret_hash", json_string(to_hex(wanted.secret))},
                          {"created_by", json_string(actor_name(by))}};
    std::vector<std::string> scopes;
    for (const std::string_view scope : wanted.scopes.texts()) scopes.emplace_back(scope);
    attributes["scopes"] = json_list(scopes);
    attributes["job_types"] = json_list(wanted.types);
    if (wanted.expires != never) attributes["expires_at"] = json_time(wanted.expires);
    return attributes;
}

Scopes scopes_of(const Attributes& attributes, CallerKind caller) {
    if (caller == CallerKind::worker) return {Scope::work};
    Scopes scopes;
    for (const std::string& text : texts_of(attributes, "scopes")) {
        if (const auto scope = parse_scope(text)) scopes.add(*scope);
    }
    return scopes;
}

std::optional<Error> refuse_change(EntityChanges& /*changes*/, const EntityKey& key,
                                   const std::string& /*parent*/) {
    const bool is_ours = key.kind == kind || key.kind == engine_key_kind;
    return is_ours ? std::optional(only_admins_change(key)) : std::nullopt;
}

void declare(JobTypes& /*types*/, EntityKinds& kinds) {
    kinds.put({.name = std::string(kind),
               .initial = "active",
               .transitions = {{"revoke", {"active"}, "revoked"}}});
    kinds.put(EntityKind::record(std::string(engine_key_kind)));
}

}  // namespace

std::string token_text(std::string_view id, std::string_view secret) {
    return fmt::format("{}{}_{}", prefix, id, secret);
}

std::optional<TokenText> parse_token(std::string_view text) {
    if (!text.starts_with(prefix)) return std::nullopt;
    text.remove_prefix(prefix.size());
    if (text.size() != id_digits + 1 + secret_digits || text[id_digits] != '_') return std::nullopt;
    const std::string_view id = text.substr(0, id_digits);
    if (id.find_first_not_of("0123456789abcdef") != std::string_view::npos) return std::nullopt;
    return TokenText{id, text.substr(id_digits + 1)};
}

EntityKey token_key(std::string_view id) {
    return {std::string(own_tenant), std::string(kind), std::string(id)};
}

AccessToken read_token(const Entity& entity) {
    const Attributes& attributes = entity.attributes;
    AccessToken token;
    token.id = entity.key.id;
    token.caller.name = text_of(attributes, "name").value_or("");
    token.caller.kind =
        parse_caller_kind(text_of(attributes, "kind").value_or("")).value_or(CallerKind::user);
    token.caller.tenant = text_of(attributes, "tenant").value_or("");
    token.caller.any_tenant = truth_of(attributes, "all_tenants").value_or(false);
    token.caller.scopes = scopes_of(attributes, token.caller.kind);
    token.caller.types = texts_of(attributes, "job_types");
    token.caller.credential = "token " + token.id;
    token.caller.expires = time_of(attributes, "expires_at").value_or(never);
    const auto hash = parse_digest(text_of(attributes, "secret_hash").value_or(""));
    token.secret = hash.value_or(Digest{});
    token.is_revoked = entity.state != "active" || !hash || entity.damaged;
    token.created_at = entity.created_at;
    token.created_by = text_of(attributes, "created_by").value_or("");
    if (entity.state == "revoked") token.revoked_at = entity.updated_at;
    return token;
}

Entity decoy_token() {
    NewToken wanted{.name = "nobody", .scopes = {Scope::operate}};
    wanted.expires = Timestamp{} + token_life;
    Entity entity;
    entity.key = token_key(std::string(id_digits, '0'));
    entity.state = "active";
    entity.attributes = attributes_of(wanted, operator_caller);
    return entity;
}

std::vector<AccessToken> list_tokens(EntityReader& entities, const Caller& by,
                                     const std::string& tenant) {
    const EntityFilter filter{
        .tenant = std::string(own_tenant), .kind = std::string(kind), .parent = tenant};
    std::vector<AccessToken> tokens;
    for (const Entity& entity : entities.list(filter, newest_entity, 0, tokens_max)) {
        AccessToken token = read_token(entity);
        if (may_see(by, token)) tokens.push_back(std::move(token));
    }
    return tokens;
}

Result<EntityAnswer> create_token(EntityChanges& changes, const Caller& by,
                                  const NewToken& wanted) {
    if (!by.is_admin()) return Error{ErrorCode::forbidden, "only admins make tokens", ""};
    NewToken checked = wanted;
    if (auto refusal = refuse_wish(by, checked, changes.now())) return *std::move(refusal);
    changes.act_as(actor_name(by));
    auto created = changes.create(
        {.key = token_key(""), .parent = checked.tenant, .attributes = attributes_of(checked, by)});
    if (!created) return created.error();
    return EntityAnswer{.entity = *std::move(created)};
}

EntityKey engine_secret_key() {
    return {std::string(own_tenant), std::string(engine_key_kind), "leases"};
}

Result<EntityAnswer> find_engine_key(EntityChanges& changes, const std::string& proposal) {
    const EntityKey key = engine_secret_key();
    if (auto known = changes.find(key)) return EntityAnswer{.entity = *std::move(known)};
    changes.act_as("engine");
    auto created = changes.create({.key = key, .attributes = {{"key", json_string(proposal)}}});
    if (!created) return created.error();
    return EntityAnswer{.entity = *std::move(created)};
}

std::string engine_key_of(const Entity& entity) {
    return text_of(entity.attributes, "key").value_or("");
}

Result<EntityAnswer> revoke_token(EntityChanges& changes, const Caller& by, const std::string& id) {
    if (!by.is_admin()) return Error{ErrorCode::forbidden, "only admins revoke tokens", ""};
    auto token = changes.find(token_key(id));
    if (!token || !may_see(by, read_token(*token))) {
        return Error{ErrorCode::not_found, "no token has this id", ""};
    }
    changes.act_as(actor_name(by));
    changes.move(*token, "revoke");
    return EntityAnswer{.entity = *std::move(token)};
}

ContractRules access_rules() {
    return {.declare = declare, .refuse_change = refuse_change};
}

}  // namespace sluice
