#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "application/caller.hpp"
#include "application/contract_rules.hpp"
#include "application/entity_desk.hpp"
#include "domain/sha256.hpp"

// Access tokens: what programs show to be let in. A token's text is "slu_<id>_<secret>"; only the
// secret's hash is kept; the secret has 256 random bits, as 43 characters of base64url. They are
// entities of a tenant of the engine's own, which no request can name, so that they have a history
// and are in every store.
namespace sluice {

inline constexpr Duration token_life = std::chrono::hours(24 * 90);  // unless one says otherwise

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
// Nothing when this cannot be a token.
std::optional<TokenText> parse_token(std::string_view text);

EntityKey token_key(std::string_view id);
AccessToken read_token(const Entity& entity);
// One that is in no store, and takes as long to read as others do.
Entity nobodys_token();

// Who may see every token: whoever can open the store.
inline const Caller everybody{.any_tenant = true};

// The tokens of a tenant that `by` may see, newest first; an empty tenant stands for all.
std::vector<AccessToken> list_tokens(EntityReader& entities, const Caller& by,
                                     const std::string& tenant);

// Makes a token. `by` must be an admin; one of a single tenant makes tokens for that tenant only.
Result<EntityAnswer> create_token(EntityDesk& desk, const Caller& by, const NewToken& wanted);

// The secret that engines on one store share, at this key, made from `proposal` when there is none
// yet.
EntityKey engine_key_place();
Result<EntityAnswer> find_engine_key(EntityDesk& desk, const std::string& proposal);
std::string engine_key_of(const Entity& entity);

// Takes a token out of use, for good. To revoke it again changes nothing.
Result<EntityAnswer> revoke_token(EntityDesk& desk, const Caller& by, const std::string& id);

// Only admins change what callers are known by.
ContractRules access_rules();

}  // namespace sluice
