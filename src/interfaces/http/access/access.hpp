#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "application/access/access_tokens.hpp"
#include "application/access/jwt_verifier.hpp"
#include "application/ports/clock.hpp"
#include "application/ports/query_queue.hpp"
#include "interfaces/http/message/message.hpp"

namespace sluice::http {

// Identifies the caller of a request. Lives on the I/O thread.
//
// Access tokens are looked up in the store when they are first seen. While they are in use they are
// asked for again and again, so that a token that was revoked, wherever that was, is known to be so
// within `known_for`.
class Access {
  public:
    struct Settings {
        bool is_open = false;                 // no token is asked for: callers name themselves
        std::vector<std::string> admins{};    // callers of these names may do everything then
        std::optional<Digest> admin_token{};  // the hash of a token that is in no store
    };

    // The caller; or no known caller, or the store gave no answer.
    struct Identified {
        CallerPtr caller{};
        bool is_unavailable = false;
    };

    Access(Settings settings, QueryQueue& queries, Clock& clock, JwtVerifier* jwts);

    // The answer where it is known at once; nothing: look_up() must ask.
    std::optional<Identified> identify(const Request& request);
    void look_up(const Request& request, std::function<void(Identified)> done);

    // Whether the caller's credential is still good, as far as it is known.
    bool is_still_good(const Caller& caller);

    // Asks again for the tokens that are in use. To be called every second or so.
    void refresh();

    // Lets a token in no more; it has just been revoked here.
    void shut_out(const std::string& token_id);

    bool is_open() const { return settings_.is_open; }

  private:
    struct Known {
        AccessToken token;
        CallerPtr caller;
        Timestamp read_at{};
        Timestamp used_at{};
    };

    CallerPtr self_declared(const Request& request);
    std::optional<Identified> identify_token(const TokenText& text);
    Identified judge(Known& known, const Digest& shown);
    void learn(const std::string& id, const std::optional<AccessToken>& token);
    void learn_all(const std::vector<std::string>& ids,
                   const std::vector<std::optional<Entity>>& entities);

    const Settings settings_;
    QueryQueue& queries_;
    Clock& clock_;
    JwtVerifier* const jwts_;
    const CallerPtr anonymous_;
    const CallerPtr admin_;
    const std::shared_ptr<const Entity> nobodys_;
    std::unordered_map<std::string, Known> known_;
    bool is_refreshing_ = false;
};

// The token of an "Authorization: Bearer …" header; empty when there is none.
std::string_view bearer_token(const Request& request);

// How often tokens are asked for again, and for how long an answer counts.
inline constexpr Duration token_refresh = std::chrono::milliseconds(1500);
inline constexpr Duration token_known_for = std::chrono::seconds(4);

}  // namespace sluice::http
