#include "interfaces/http/toolkit/answers.hpp"

#include <fmt/format.h>

#include "domain/values/check.hpp"
#include "interfaces/http/message/problem.hpp"
#include "interfaces/http/toolkit/route.hpp"

namespace sluice::http {
namespace {

int status_of(ErrorCode code) {
    switch (code) {
        case ErrorCode::malformed: return 400;
        case ErrorCode::invalid: return 422;
        case ErrorCode::too_large: return 413;
        case ErrorCode::not_found: return 404;
        case ErrorCode::conflict: return 409;
        case ErrorCode::changed_meanwhile: return 412;
        case ErrorCode::lease_lost: return 409;
        case ErrorCode::idempotency_mismatch: return 422;
        case ErrorCode::forbidden: return 403;
        case ErrorCode::invalid_transition: return 409;
        case ErrorCode::gate_closed: return 409;
        case ErrorCode::resource_failed: return 409;
        case ErrorCode::resource_not_failed: return 409;
        case ErrorCode::job_not_cancellable: return 409;
        case ErrorCode::unavailable: return 503;
        case ErrorCode::store_full: return 503;
        case ErrorCode::shutting_down: return 503;
    }
    return 500;
}

}  // namespace

std::string_view code_of(ErrorCode code) {
    switch (code) {
        case ErrorCode::malformed: return "malformed";
        case ErrorCode::invalid: return "invalid";
        case ErrorCode::too_large: return "too_large";
        case ErrorCode::not_found: return "not_found";
        case ErrorCode::conflict: return "conflict";
        case ErrorCode::changed_meanwhile: return "changed_meanwhile";
        case ErrorCode::lease_lost: return "lease_lost";
        case ErrorCode::idempotency_mismatch: return "idempotency_key_reused";
        case ErrorCode::forbidden: return "forbidden";
        case ErrorCode::invalid_transition: return "invalid_transition";
        case ErrorCode::gate_closed: return "gate_closed";
        case ErrorCode::resource_failed: return "resource_failed";
        case ErrorCode::resource_not_failed: return "resource_not_failed";
        case ErrorCode::job_not_cancellable: return "job_not_cancellable";
        case ErrorCode::unavailable: return "unavailable";
        case ErrorCode::store_full: return "store_full";
        case ErrorCode::shutting_down: return "shutting_down";
    }
    return "internal";
}

Response json(int status, std::string body) {
    Response response;
    response.status = status;
    response.body = std::move(body);
    return response;
}

Response problem_of(const Error& error, std::string_view request_id) {
    const int status = status_of(error.code);
    Response response =
        problem(status, code_of(error.code), error.message, request_id, error.pointer);
    if (status == 503) {
        response.headers.emplace_back("Retry-After", std::to_string(error.retry_after.count()));
    }
    return response;
}

Response refusal_by_contract(const Request& request, int status, std::string_view code,
                             const std::string& message) {
    const Contract* contract = request.destination.contract;
    check(contract != nullptr, "a request has its destination before it is refused");
    return contract->refusal(status, code, message, request.request_id);
}

Response unauthorized(const Request& request, std::string_view other_header) {
    std::string message = "a valid access token is needed: send it as Authorization: Bearer …";
    if (!other_header.empty()) {
        message = fmt::format("{} is missing; without it {}", other_header, message);
    }
    Response response = refusal_by_contract(request, 401, "unauthorized", message);
    response.headers.emplace_back("WWW-Authenticate", R"(Bearer realm="sluice")");
    return response;
}

void send_refusal(const Call& call, const Error& error) {
    call.reply.send(problem_of(error, call.request.request_id));
}

}  // namespace sluice::http
