#include "interfaces/http/deploy/access.hpp"

#include <algorithm>

#include "domain/sha256.hpp"
#include "interfaces/http/ascii.hpp"
#include "interfaces/http/deploy/envelope.hpp"

namespace sluice::http::deploy {
namespace {

// Takes the same time wherever the two differ, so that nobody can find a secret byte by byte.
bool is_same_secret(std::string_view given, std::string_view wanted) {
    const Digest one = sha256(given);
    const Digest other = sha256(wanted);
    unsigned difference = 0;
    for (std::size_t i = 0; i < one.size(); ++i) {
        difference |= static_cast<unsigned>(one[i] ^ other[i]);
    }
    return difference == 0;
}

bool has_secret(const Request& request, std::string_view header, const std::string& secret) {
    if (secret.empty()) return true;
    const std::string_view* given = request.header(header);
    return given != nullptr && is_same_secret(*given, secret);
}

bool has_runner_token(const Request& request, const Settings& settings) {
    if (settings.open_runners || settings.runner_tokens.empty()) return true;
    constexpr std::string_view scheme = "Bearer ";
    const std::string_view* given = request.header("Authorization");
    if (given == nullptr || !equals_ignoring_case(given->substr(0, scheme.size()), scheme)) {
        return false;
    }
    const std::string_view token = given->substr(scheme.size());
    const auto& tokens = settings.runner_tokens;
    return std::any_of(tokens.begin(), tokens.end(),
                       [&](const std::string& known) { return is_same_secret(token, known); });
}

Response unauthorized(std::string_view message) {
    return refused_by_status(401, message);
}

}  // namespace

std::optional<Response> refuse_at(Door door, const Call& call) {
    const Settings& settings = call.app.deploy;
    const Request& request = call.request;
    switch (door) {
        case Door::control:
            if (has_secret(request, "X-DEPLOY-SECRET", settings.shared_secret)) return std::nullopt;
            return unauthorized("X-DEPLOY-SECRET is missing or wrong");
        case Door::runners: {
            if (has_runner_token(request, settings)) return std::nullopt;
            Response refusal = unauthorized("the runner's token is missing or wrong");
            refusal.headers.emplace_back("WWW-Authenticate", "Bearer");
            return refusal;
        }
        case Door::nodes:
            if (has_secret(request, "X-RT-Node-Token", settings.node_token)) return std::nullopt;
            return unauthorized("X-RT-Node-Token is missing or wrong");
        case Door::admin:
            if (has_secret(request, "X-Admin-Token", settings.admin_token)) return std::nullopt;
            return unauthorized("X-Admin-Token is missing or wrong");
    }
    return unauthorized("there is no such door");
}

}  // namespace sluice::http::deploy
