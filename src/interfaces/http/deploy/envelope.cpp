#include "interfaces/http/deploy/envelope.hpp"

#include <fmt/format.h>

#include "json/json_writer.hpp"

namespace sluice::http::deploy {
namespace {

constexpr std::string_view succeeded = "操作成功";

Response envelope(int status, int code, std::string_view message, std::string_view data) {
    Response response;
    response.status = status;
    response.body.reserve(64 + message.size() + data.size());
    JsonWriter json(response.body);
    json.begin_object();
    json.field("code", code);
    json.field("message", message);
    json.raw_field("data", data);
    json.end_object();
    return response;
}

int code_of(ErrorCode code) {
    switch (code) {
        case ErrorCode::malformed: return 500;
        case ErrorCode::invalid: return 500;
        case ErrorCode::too_large: return 500;
        case ErrorCode::idempotency_mismatch: return 500;
        case ErrorCode::not_found: return 404;
        case ErrorCode::conflict: return 409;
        case ErrorCode::changed_meanwhile: return 412;
        case ErrorCode::lease_lost: return 409;
        case ErrorCode::invalid_transition: return 409;
        case ErrorCode::gate_closed: return 409;
        case ErrorCode::resource_failed: return 409;
        case ErrorCode::resource_not_failed: return 409;
        case ErrorCode::job_not_cancellable: return 409;
        case ErrorCode::forbidden: return 403;
        case ErrorCode::unavailable: return 503;
        case ErrorCode::store_full: return 503;
        case ErrorCode::shutting_down: return 503;
    }
    return 500;
}

}  // namespace

Response success(std::string_view data) {
    return envelope(200, 200, succeeded, data);
}

Response refused_with(int code, std::string_view message, std::string_view data) {
    return envelope(200, code, message, data);
}

std::string success_begin() {
    return fmt::format(R"({{"code":200,"message":"{}","data":)", succeeded);
}

Response refused(const Error& error) {
    const int code = code_of(error.code);
    const std::string message = error.pointer.empty()
                                    ? error.message
                                    : fmt::format("{}: {}", error.pointer.substr(1), error.message);
    if (code != 503) return envelope(200, code, message, "null");
    Response response = refused_by_status(code, message);
    response.headers.emplace_back("Retry-After", std::to_string(error.retry_after.count()));
    return response;
}

Response refused_by_status(int status, std::string_view message) {
    return envelope(status, status, message, "null");
}

}  // namespace sluice::http::deploy
