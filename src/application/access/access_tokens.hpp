#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "application/entities/entity_changes.hpp"
#include "application/toolkit/contract_rules.hpp"
#include "domain/access/caller.hpp"
#include "domain/values/sha256.hpp"

// Access tokens, by which programs authenticate. A token's text is "slu_<id>_<secret>"; only the
// secret's hash is kept; the secret has 256 random bits, as 43 characters of base64url. Tokens are
// entities of a tenant of the engine's own, which no request can name, so that they have a history
// and are in every store.
namespace sluice {

inline constexpr Duration token_life = std::chrono::hours(24 * 90);  // the default

struct NewToken {
    std::string name{};
    CallerKind kind = CallerKind::user;
    std::string tenant = "default";
    bool any_tenant = false;
    Scopes scopes{};
    std::vector<std::string> types{};  // that a worker may run; empty: any
    Timestamp expires = never;
    Digest secret{};  // the hash of it, sha256(secret)
};

struct AccessToken {
    std::string id;
    Caller caller;
    Digest secret{};  // the hash of it
    bool is_revoked = false;
    Timestamp created_at{};
    std::string created_by;
    std::optional<Timestamp> revoked_at{};

    bool is_valid(Timestamp now) const { return !is_revoked && now < caller.expires; }
};

struct TokenText {
    std::string_view id;
    std::string_view secret;
};
std::string token_text(std::string_view id, std::string_view secret);
// Nothing when the text cannot be a token.
std::optional<TokenText> parse_token(std::string_view text);

EntityKey token_key(std::string_view id);
AccessToken read_token(const Entity& entity);
// A token that is in no store; to check it takes as long as to check others.
Entity decoy_token();

// A caller that may see every token: somebody who can open the store.
inline const Caller operator_caller{.any_tenant = true};

// The tokens of a tenant that `by` may see, newest first; an empty tenant stands for all.
std::vector<AccessToken> list_tokens(EntityReader& entities, const Caller& by,
                                     const std::string& tenant);

// Makes a token. `by` must be an admin; one of a single tenant makes tokens for that tenant only.
Result<EntityAnswer> create_token(EntityChanges& changes, const Caller& by, const NewToken& wanted);

// The secret that engines on one store share, and its key. It is made from `proposal` when there is
// none yet.
EntityKey engine_secret_key();
Result<EntityAnswer> find_engine_key(EntityChanges& changes, const std::string& proposal);
std::string engine_key_of(const Entity& entity);

// Takes a token out of use, for good. To revoke it again changes nothing.
Result<EntityAnswer> revoke_token(EntityChanges& changes, const Caller& by, const std::string& id);

// Only admins change tokens and the engine's key.
ContractRules access_rules();

}  // namespace sluice
