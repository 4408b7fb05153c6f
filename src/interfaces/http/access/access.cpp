#include "interfaces/http/access/access.hpp"

#include <algorithm>

#include "domain/values/ascii.hpp"

namespace sluice::http {
namespace {

constexpr Duration kept_unused = std::chrono::minutes(2);
constexpr std::size_t known_max = 20'000;

// A caller that may do everything.
Caller overseer(std::string name) {
    Caller caller;
    caller.any_tenant = true;
    caller.name = std::move(name);
    caller.scopes = {Scope::admin, Scope::operate, Scope::work};
    return caller;
}

CallerPtr holder_of_admin_token() {
    Caller caller = overseer("admin");
    caller.kind = CallerKind::service;
    caller.credential = "admin token";
    return std::make_shared<Caller>(std::move(caller));
}

}  // namespace

std::string_view bearer_token(const Request& request) {
    constexpr std::string_view scheme = "Bearer ";
    const std::string_view* header = request.header("Authorization");
    if (header == nullptr || !equals_ignoring_case(header->substr(0, scheme.size()), scheme)) {
        return {};
    }
    return header->substr(scheme.size());
}

Access::Access(Settings settings, QueryQueue& queries, Clock& clock, JwtVerifier* jwts)
    : settings_(std::move(settings)),
      queries_(queries),
      clock_(clock),
      jwts_(jwts),
      anonymous_(std::make_shared<Caller>(overseer(""))),
      admin_(holder_of_admin_token()),
      nobodys_(std::make_shared<Entity>(decoy_token())) {}

CallerPtr Access::self_declared(const Request& request) {
    const std::string_view* name = request.header("X-Sluice-User");
    if (name == nullptr) return anonymous_;
    Caller caller;
    caller.any_tenant = true;
    caller.name = *name;
    caller.scopes = {Scope::operate, Scope::work};
    const auto& admins = settings_.admins;
    if (std::find(admins.begin(), admins.end(), caller.name) != admins.end()) {
        caller.scopes.add(Scope::admin);
    }
    return std::make_shared<Caller>(std::move(caller));
}

std::optional<Access::Identified> Access::identify(const Request& request) {
    if (settings_.is_open) return Identified{self_declared(request)};
    const std::string_view token = bearer_token(request);
    if (token.empty()) return Identified{};
    if (const auto text = parse_token(token)) return identify_token(*text);
    if (settings_.admin_token && is_same_secret(*settings_.admin_token, sha256(token))) {
        return Identified{admin_};
    }
    if (jwts_ == nullptr) return Identified{};
    auto caller = jwts_->verify(token, clock_.now());
    return Identified{caller ? std::make_shared<Caller>(*std::move(caller)) : nullptr};
}

// A caller that knows the secret learns at once whether the token is good. All others wait for the
// store, whether there is a token of this id or not: the time of the answer must not tell which.
std::optional<Access::Identified> Access::identify_token(const TokenText& text) {
    const Digest shown = sha256(text.secret);
    const auto found = known_.find(std::string(text.id));
    const bool is_known = found != known_.end();
    if (!is_same_secret(is_known ? found->second.token.secret : Digest{}, shown) || !is_known ||
        clock_.now() - found->second.read_at > token_known_for) {
        return std::nullopt;
    }
    return judge(found->second, shown);
}

Access::Identified Access::judge(Known& known, const Digest& shown) {
    const Timestamp now = clock_.now();
    known.used_at = now;
    const bool is_right = is_same_secret(known.token.secret, shown);
    return Identified{is_right && known.token.is_valid(now) ? known.caller : nullptr};
}

void Access::look_up(const Request& request, std::function<void(Identified)> done) {
    const auto text = parse_token(bearer_token(request));
    if (!text) return done({});
    // An unknown id is answered after reading a token that belongs to no user: as said above, the
    // time must not tell.
    struct Found {
        AccessToken token{};
        bool is_there = false;
    };
    const auto question = [key = token_key(text->id),
                           nobodys = nobodys_](JobReader& reader) -> Result<Found> {
        std::optional<Entity> entity = reader.entities().find_one(key);
        const bool is_there = entity.has_value();
        if (!is_there) entity = *nobodys;
        return Found{read_token(*entity), is_there};
    };
    // The request's bytes stay where they are until it was answered.
    queries_.ask<Found>(
        question, [this, text = *text, done = std::move(done)](Result<Found> found) {
            if (!found) return done({.is_unavailable = true});
            const Digest shown = sha256(text.secret);
            const std::string id(text.id);
            Known nobody;
            if (!found->is_there) nobody.token = found->token;
            learn(id, found->is_there ? std::optional(std::move(found->token)) : std::nullopt);
            const auto known = known_.find(id);
            const Identified judged = judge(known != known_.end() ? known->second : nobody, shown);
            done(known != known_.end() ? judged : Identified{});
        });
}

void Access::learn(const std::string& id, const std::optional<AccessToken>& token) {
    if (!token) {
        known_.erase(id);
        return;
    }
    const Timestamp now = clock_.now();
    if (known_.size() >= known_max) known_.clear();
    Known& known = known_[id];
    const bool was_revoked = known.token.is_revoked;  // for ever: the store may give older data
    known.token = *token;
    known.token.is_revoked |= was_revoked;
    known.read_at = now;
    known.used_at = std::max(known.used_at, now - kept_unused);
    if (!known.caller || *known.caller != known.token.caller) {
        known.caller = std::make_shared<Caller>(known.token.caller);
    }
}

bool Access::is_still_good(const Caller& caller) {
    if (clock_.now() >= caller.expires) return false;
    constexpr std::string_view mark = "token ";
    if (!caller.credential.starts_with(mark)) return true;
    Known& known = known_[caller.credential.substr(mark.size())];  // is asked for from now on
    known.used_at = clock_.now();
    return !known.token.is_revoked;
}

void Access::refresh() {
    if (is_refreshing_) return;
    const Timestamp now = clock_.now();
    std::erase_if(known_,
                  [&](const auto& entry) { return now - entry.second.used_at > kept_unused; });
    std::vector<std::string> ids;
    std::vector<EntityKey> keys;
    for (const auto& [id, known] : known_) {
        if (now - known.read_at < token_refresh) continue;
        ids.push_back(id);
        keys.push_back(token_key(id));
    }
    if (ids.empty()) return;
    is_refreshing_ = true;
    using Found = std::vector<std::optional<Entity>>;
    queries_.ask<Found>(
        [keys = std::move(keys)](JobReader& reader) -> Result<Found> {
            return reader.entities().find(keys);
        },
        [this, ids = std::move(ids)](const Result<Found>& entities) {
            is_refreshing_ = false;
            if (entities) learn_all(ids, *entities);
        });
}

void Access::learn_all(const std::vector<std::string>& ids,
                       const std::vector<std::optional<Entity>>& entities) {
    for (std::size_t i = 0; i < ids.size(); ++i) {
        if (!known_.contains(ids[i])) continue;
        learn(ids[i], entities[i] ? std::optional(read_token(*entities[i])) : std::nullopt);
    }
}

void Access::shut_out(const std::string& token_id) {
    Known& known = known_[token_id];
    known.token.is_revoked = true;
    known.used_at = clock_.now();
}

}  // namespace sluice::http
