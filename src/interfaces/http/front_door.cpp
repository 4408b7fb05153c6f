#include "interfaces/http/front_door.hpp"

#include <fmt/format.h>

#include "interfaces/http/ascii.hpp"
#include "interfaces/http/caller.hpp"
#include "interfaces/http/content_rules.hpp"
#include "interfaces/http/deploy/access.hpp"
#include "interfaces/http/routes.hpp"

namespace sluice::http {
namespace {

using Headers = std::vector<std::pair<std::string, std::string>>;

Response refusal(const Request& request, int status, std::string_view code,
                 const std::string& message) {
    return contract_of(request.path).refusal(status, code, message, request.request_id);
}

Response unavailable(const Request& request, const std::string& message) {
    Response response = refusal(request, 503, "unavailable", message);
    response.headers.emplace_back("Retry-After", "1");
    return response;
}

Response not_there(const Request& request, const std::string& allowed) {
    if (allowed.empty()) {
        return refusal(request, 404, "not_found", "there is nothing at this path");
    }
    Response response = refusal(request, 405, "method_not_allowed",
                                "this path does not have this method; it has " + allowed);
    response.headers.emplace_back("Allow", allowed);
    return response;
}

Response refusal(const Request& request, const ContentRefusal& content) {
    Response response = refusal(request, content.status, content.code, content.message);
    if (content.names_codings) response.headers.emplace_back("Accept-Encoding", "identity");
    return response;
}

// Browsers say from where a page writes. Pages from elsewhere must not: they would act with the
// rights of whoever looks at them.
bool is_from_foreign_page(const Request& request) {
    const std::string_view* origin = request.header("Origin");
    const std::string_view* host = request.header("Host");
    if (!origin || request.verb == Verb::get || request.verb == Verb::head) return false;
    const std::size_t scheme = origin->find("://");
    return scheme == std::string_view::npos || !host ||
           !equals_ignoring_case(origin->substr(scheme + 3), *host);
}

std::int64_t seconds_up(Duration duration) {
    return std::chrono::ceil<std::chrono::seconds>(duration).count();
}

// Says how much of a limit is left, in the words of the IETF's draft on RateLimit fields.
Headers limit_headers(std::string_view name, const RateLimit& limit,
                      const RateLimit::Verdict& verdict) {
    return {{"RateLimit-Policy",
             fmt::format(R"("{}";q={};w={})", name, limit.requests(), seconds_up(limit.window()))},
            {"RateLimit",
             fmt::format(R"("{}";r={};t={})", name, verdict.left, seconds_up(verdict.until_more))}};
}

Response too_many(const Request& request, std::string_view name, const RateLimit& limit,
                  const RateLimit::Verdict& verdict) {
    Response response = refusal(request, 429, "too_many_requests",
                                fmt::format("too many requests of this {}; try again later", name));
    response.headers = limit_headers(name, limit, verdict);
    response.headers.emplace_back(
        "Retry-After", std::to_string(std::max<std::int64_t>(1, seconds_up(verdict.until_more))));
    return response;
}

// Adds headers to whatever is answered.
class AnnotatedChannel final : public Reply::Channel {
  public:
    AnnotatedChannel(Reply reply, Headers headers)
        : reply_(std::move(reply)), headers_(std::move(headers)) {}

    void send(Response response) override { reply_.send(annotated(std::move(response), headers_)); }
    void send_pieces(AskPiece first) override {
        // Without this channel: the connection keeps the question, and the channel the connection.
        reply_.send_pieces(
            [first = std::move(first), headers = headers_](std::function<void(AnswerPiece)> came) {
                first([headers, came = std::move(came)](AnswerPiece piece) {
                    piece.response = annotated(std::move(piece.response), headers);
                    came(std::move(piece));
                });
            });
    }
    void stream(Response head, std::unique_ptr<BodyStream> body) override {
        reply_.stream(annotated(std::move(head), headers_), std::move(body));
    }
    void on_hang_up(std::function<void()> gone) override { reply_.on_hang_up(std::move(gone)); }
    bool is_open() const override { return reply_.is_open(); }

  private:
    static Response annotated(Response response, const Headers& headers) {
        for (const auto& header : headers) response.headers.push_back(header);
        return response;
    }

    Reply reply_;
    Headers headers_;
};

// One request on its way from the door to its handler.
struct Visit {
    const Request& request;
    App& app;
    FoundRoute found;
    Reply reply;
};

void call_handler(Visit visit, CallerPtr caller);

// Right after its start the engine reads the key that lease ids are sealed with.
void wait_for_seal(Visit visit, CallerPtr caller) {
    LeaseSeal& seal = visit.app.seal;
    seal.when_asked([visit = std::move(visit), caller = std::move(caller)] {
        if (visit.app.seal.is_ready()) return call_handler(visit, caller);
        visit.reply.send(unavailable(visit.request, "the engine is not ready yet"));
    });
}

void call_handler(Visit visit, CallerPtr caller) {
    const Request& request = visit.request;
    const bool is_of_worker = visit.found.route->right.scope == Scope::work;
    if (is_of_worker && !visit.app.seal.is_ready()) {
        return wait_for_seal(std::move(visit), std::move(caller));
    }
    const Contract& contract = *visit.found.contract;
    if (const auto refused = refuse_query(request, contract, *visit.found.route)) {
        return visit.reply.send(refusal(request, *refused));
    }
    if (const auto refused = refuse_body(request, contract)) {
        return visit.reply.send(refusal(request, *refused));
    }
    RateLimit& limit = visit.app.turnstile.per_tenant;
    const bool is_of_tenant = visit.found.route->right.door != Right::Door::open;
    if (limit.is_on() && is_of_tenant) {
        const auto verdict = limit.take(caller->tenant, visit.app.clock.now());
        if (!verdict.is_allowed) {
            return visit.reply.send(too_many(request, "tenant", limit, verdict));
        }
        visit.reply = Reply(std::make_shared<AnnotatedChannel>(
            std::move(visit.reply), limit_headers("tenant", limit, verdict)));
    }
    visit.found.route->handler({request, visit.found.first, visit.found.second, visit.app,
                                std::move(caller), std::move(visit.reply)});
}

// The refusal of something that was shown; who has shown too much that was wrong hears that
// instead.
Response slowed_down(const Visit& visit, Response refusal) {
    RateLimit& limit = visit.app.turnstile.bad_tokens;
    const auto verdict = limit.take(visit.request.remote_address, visit.app.clock.now());
    if (verdict.is_allowed) return refusal;
    return too_many(visit.request, "address", limit, verdict);
}

void refuse_stranger(const Visit& visit) {
    const Right::Door door = visit.found.route->right.door;
    Response refusal = unauthorized(visit.request, deploy::header_of(door));
    if (visit.request.header("Authorization") != nullptr) {
        refusal = slowed_down(visit, std::move(refusal));
    }
    visit.reply.send(std::move(refusal));
}

void admit(Visit visit, Access::Identified identified) {
    const Request& request = visit.request;
    if (identified.is_unavailable) {
        return visit.reply.send(unavailable(request, "the store does not answer"));
    }
    if (!identified.caller) return refuse_stranger(visit);
    if (const auto error = refuse_caller(*identified.caller, visit.found.route->right)) {
        if (visit.app.on_denied) visit.app.on_denied(*identified.caller, *visit.found.route);
        return visit.reply.send(refusal(request, 403, "forbidden", error->message));
    }
    call_handler(std::move(visit), std::move(identified.caller));
}

void identify(Visit visit) {
    Access& access = visit.app.access;
    if (auto known = access.identify(visit.request)) return admit(std::move(visit), *known);
    const Request& request = visit.request;
    access.look_up(request, [visit = std::move(visit)](Access::Identified identified) {
        admit(visit, std::move(identified));
    });
}

// Nothing: the request may go on.
std::optional<Response> refuse_at_once(const Request& request, App& app) {
    if (is_from_foreign_page(request)) {
        return refusal(request, 403, "foreign_origin",
                       "pages from another origin may not write here");
    }
    if (const auto complaint = complaint_about_name(request, app.access.is_open())) {
        return refusal(request, 400, "malformed", std::string(*complaint));
    }
    RateLimit& limit = app.turnstile.per_address;
    if (!limit.is_on() || is_loopback(request.remote_address)) return std::nullopt;
    const auto verdict = limit.take(request.remote_address, app.clock.now());
    if (verdict.is_allowed) return std::nullopt;
    return too_many(request, "address", limit, verdict);
}

}  // namespace

Response unauthorized(const Request& request, std::string_view other_header) {
    std::string message = "a valid access token is needed: send it as Authorization: Bearer …";
    if (!other_header.empty()) {
        message = fmt::format("{} is missing; without it {}", other_header, message);
    }
    Response response = refusal(request, 401, "unauthorized", message);
    response.headers.emplace_back("WWW-Authenticate", R"(Bearer realm="sluice")");
    return response;
}

void dispatch(Request& request, App& app, Reply reply) {
    FoundRoute found = find_route(request.verb, request.path);
    if (!found.route) return reply.send(not_there(request, found.allowed));
    request.reading = found.contract->reading;
    if (auto response = refuse_at_once(request, app)) return reply.send(*std::move(response));

    Visit visit{request, app, std::move(found), std::move(reply)};
    const Right& right = visit.found.route->right;
    if (right.door == Right::Door::open) return call_handler(std::move(visit), anonymous_caller());
    const deploy::DoorVerdict verdict = deploy::look_at_door(right.door, request, app);
    if (verdict.refusal) {
        return visit.reply.send(verdict.is_guess ? slowed_down(visit, *verdict.refusal)
                                                 : *verdict.refusal);
    }
    if (verdict.caller) return call_handler(std::move(visit), verdict.caller);
    identify(std::move(visit));
}

}  // namespace sluice::http
