#include "interfaces/http/dispatch/front_door.hpp"

#include <fmt/format.h>

#include "domain/values/ascii.hpp"
#include "interfaces/http/toolkit/answers.hpp"
#include "interfaces/http/toolkit/caller.hpp"
#include "interfaces/http/toolkit/content_rules.hpp"

namespace sluice::http {
namespace {

using Headers = std::vector<std::pair<std::string, std::string>>;

Response unavailable(const Request& request, const std::string& message) {
    Response response = refusal_by_contract(request, 503, "unavailable", message);
    response.headers.emplace_back("Retry-After", "1");
    return response;
}

// The part of a caller's text that a message needs.
std::string_view shortened(std::string_view sent) {
    constexpr std::size_t shown_max = 200;
    return sent.substr(0, shown_max);
}

Response not_there(const Request& request, const std::string& allowed) {
    if (allowed.empty()) {
        return refusal_by_contract(
            request, 404, "not_found",
            fmt::format("there is nothing at the path {}; docs/http-api.md and docs/contracts list "
                        "all paths",
                        shortened(request.path)));
    }
    Response response =
        refusal_by_contract(request, 405, "method_not_allowed",
                            "this path does not have this method; it has " + allowed);
    response.headers.emplace_back("Allow", allowed);
    return response;
}

Response refusal(const Request& request, const ContentRefusal& content) {
    Response response = refusal_by_contract(request, content.status, content.code, content.message);
    if (content.names_codings) response.headers.emplace_back("Accept-Encoding", "identity");
    return response;
}

// Browsers send the origin of a page that makes a request. Pages from elsewhere must not make any:
// they would act with the rights of the user who looks at them.
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

// The rest of a limit, as the IETF's draft on RateLimit fields writes it.
Headers limit_headers(std::string_view name, const RateLimit& limit,
                      const RateLimit::Verdict& verdict) {
    return {{"RateLimit-Policy",
             fmt::format(R"("{}";q={};w={})", name, limit.requests(), seconds_up(limit.window()))},
            {"RateLimit",
             fmt::format(R"("{}";r={};t={})", name, verdict.left, seconds_up(verdict.until_more))}};
}

// `setting` is the name of the limit among the settings.
Response too_many(const Request& request, std::string_view name, std::string_view setting,
                  const RateLimit& limit, const RateLimit::Verdict& verdict) {
    const std::int64_t pause = std::max<std::int64_t>(1, seconds_up(verdict.until_more));
    Response response = refusal_by_contract(
        request, 429, "too_many_requests",
        fmt::format("this {} has used up limits.{}, {} in {} s; send the request again in {} s",
                    name, setting, limit.requests(), seconds_up(limit.window()), pause));
    response.headers = limit_headers(name, limit, verdict);
    response.headers.emplace_back("Retry-After", std::to_string(pause));
    return response;
}

// Adds headers to any answer.
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
    Reply reply;

    const Route& route() const { return *request.destination.route; }
    const Contract& contract() const { return *request.destination.contract; }
};

void call_handler(Visit visit, CallerPtr caller);

// Right after its start the engine reads the key that lease ids are sealed with.
void wait_for_seal(Visit visit, CallerPtr caller) {
    LeaseSeal& seal = visit.app.seal;
    seal.when_asked([visit = std::move(visit), caller = std::move(caller)] {
        if (visit.app.seal.is_ready()) return call_handler(visit, caller);
        visit.reply.send(unavailable(visit.request,
                                     "the engine cannot read its keys from the store yet; send the "
                                     "request again in a moment"));
    });
}

void call_handler(Visit visit, CallerPtr caller) {
    const Request& request = visit.request;
    const bool is_of_worker = visit.route().right.scope == Scope::work;
    if (is_of_worker && !visit.app.seal.is_ready()) {
        return wait_for_seal(std::move(visit), std::move(caller));
    }
    if (const auto refused = refuse_query(request, visit.contract(), visit.route())) {
        return visit.reply.send(refusal(request, *refused));
    }
    if (const auto refused = refuse_body(request, visit.contract())) {
        return visit.reply.send(refusal(request, *refused));
    }
    RateLimit& limit = visit.app.limiter.per_tenant;
    const bool is_of_tenant = visit.route().right.kind != Right::Kind::open;
    if (limit.is_on() && is_of_tenant) {
        const auto verdict = limit.take(caller->tenant, visit.app.clock.now());
        if (!verdict.is_allowed) {
            return visit.reply.send(
                too_many(request, "tenant", "requests_per_tenant", limit, verdict));
        }
        visit.reply = Reply(std::make_shared<AnnotatedChannel>(
            std::move(visit.reply), limit_headers("tenant", limit, verdict)));
    }
    const auto handler = visit.route().handler;
    handler({request, visit.app, std::move(caller), std::move(visit.reply)});
}

// The refusal of a wrong token or secret; a caller that has shown too many is told that instead.
Response slowed_down(const Visit& visit, Response refusal) {
    RateLimit& limit = visit.app.limiter.bad_tokens;
    const auto verdict = limit.take(visit.request.remote_address, visit.app.clock.now());
    if (verdict.is_allowed) return refusal;
    return too_many(visit.request, "address", "bad_tokens_per_address", limit, verdict);
}

void refuse_stranger(const Visit& visit) {
    const Door* door = visit.route().right.door;
    Response refusal = unauthorized(visit.request, door ? door->header : std::string_view());
    if (visit.request.header("Authorization") != nullptr) {
        refusal = slowed_down(visit, std::move(refusal));
    }
    visit.reply.send(std::move(refusal));
}

void admit(Visit visit, Access::Identified identified) {
    const Request& request = visit.request;
    if (identified.is_unavailable) {
        return visit.reply.send(
            unavailable(request,
                        "the store does not answer, so that the token cannot be checked; send the "
                        "request again in a moment"));
    }
    if (!identified.caller) return refuse_stranger(visit);
    if (const auto error = refuse_caller(*identified.caller, visit.route().right)) {
        if (visit.app.on_denied) visit.app.on_denied(*identified.caller, visit.route());
        return visit.reply.send(refusal_by_contract(request, 403, "forbidden", error->message));
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
        const std::string_view* host = request.header("Host");
        return refusal_by_contract(
            request, 403, "foreign_origin",
            fmt::format("pages from another origin may not write here: Origin is \"{}\", and Host "
                        "is \"{}\"; write from a page of this host, or without Origin",
                        shortened(*request.header("Origin")), host ? shortened(*host) : ""));
    }
    if (const auto complaint = complaint_about_name(request, app.access.is_open())) {
        return refusal_by_contract(request, 400, "malformed", std::string(*complaint));
    }
    RateLimit& limit = app.limiter.per_address;
    if (!limit.is_on() || is_loopback(request.remote_address)) return std::nullopt;
    const auto verdict = limit.take(request.remote_address, app.clock.now());
    if (verdict.is_allowed) return std::nullopt;
    return too_many(request, "address", "requests_per_address", limit, verdict);
}

}  // namespace

std::size_t on_head(const Router& router, Request& request, std::size_t usual_body_bytes) {
    request.destination = router.find(request.verb, request.path);
    const Route* route = request.destination.route;
    return route != nullptr && route->body_bytes > 0 ? route->body_bytes : usual_body_bytes;
}

void dispatch(const Router& router, Request& request, App& app, Reply reply) {
    if (request.destination.route == nullptr) {
        return reply.send(not_there(request, router.allowed(request.path)));
    }
    request.reading = request.destination.contract->reading;
    if (auto response = refuse_at_once(request, app)) return reply.send(*std::move(response));

    Visit visit{request, app, std::move(reply)};
    const Right& right = visit.route().right;
    if (right.kind == Right::Kind::open) return call_handler(std::move(visit), anonymous_caller());
    if (right.door == nullptr) return identify(std::move(visit));
    DoorVerdict verdict = right.door->look(request, app);
    if (verdict.refusal) {
        return visit.reply.send(verdict.is_guess ? slowed_down(visit, *std::move(verdict.refusal))
                                                 : *std::move(verdict.refusal));
    }
    if (verdict.caller) return call_handler(std::move(visit), verdict.caller);
    identify(std::move(visit));
}

}  // namespace sluice::http
