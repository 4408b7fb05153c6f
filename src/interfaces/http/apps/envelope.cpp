#include "interfaces/http/apps/envelope.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "interfaces/http/requests/fields.hpp"

namespace sluice::http::apps {
namespace {

constexpr std::int64_t number_max = 1'000'000'000;
constexpr std::int64_t limit_max = 100;

struct Word {
    int status = 500;
    std::string_view code = "internal";
};

Word word_for(ErrorCode code) {
    switch (code) {
        case ErrorCode::malformed:
        case ErrorCode::invalid: return {400, "validation_error"};
        case ErrorCode::too_large: return {413, "validation_error"};
        case ErrorCode::not_found: return {404, "not_found"};
        case ErrorCode::forbidden: return {403, "forbidden"};
        case ErrorCode::invalid_transition: return {409, "invalid_transition"};
        case ErrorCode::conflict:
        case ErrorCode::lease_lost:
        case ErrorCode::idempotency_mismatch:
        case ErrorCode::gate_closed:
        case ErrorCode::resource_failed:
        case ErrorCode::resource_not_failed:
        case ErrorCode::changed_meanwhile:
        case ErrorCode::job_not_cancellable: return {409, "conflict"};
        case ErrorCode::unavailable:
        case ErrorCode::store_full:
        case ErrorCode::shutting_down: return {503, "unavailable"};
    }
    return {};
}

// The message with the field that is meant, unless it names the field itself.
std::string message_of(const Error& error) {
    if (error.pointer.size() < 2) return error.message;
    const std::string field = error.pointer.substr(1);
    if (error.message.find(field) != std::string::npos) return error.message;
    return fmt::format("{}: {}", field, error.message);
}

}  // namespace

Response refusal(int status, std::string_view code, const std::string& message,
                 std::string_view request_id) {
    Response response;
    response.status = status;
    response.body = json_object_text([&](JsonWriter& json) {
        json.object("error", [&] {
            json.field("code", code);
            json.field("message", message);
            json.field("request_id", request_id);
        });
    });
    return response;
}

Response refusal_of(const Error& error, std::string_view request_id) {
    const Word word = word_for(error.code);
    Response response = refusal(word.status, word.code, message_of(error), request_id);
    if (word.status == 503) {
        response.headers.emplace_back("Retry-After", std::to_string(error.retry_after.count()));
    }
    return response;
}

Response data(int status, const std::function<void(JsonWriter&)>& write) {
    Response response;
    response.status = status;
    response.body = json_object_text([&](JsonWriter& json) {
        json.key("data");
        write(json);
    });
    return response;
}

Result<PageQuery> read_page_query(const QueryParams& params) {
    const auto number = number_param(params, "page", 1, number_max, 1);
    if (!number) return number.error();
    const auto limit = number_param(params, "limit", 1, number_max, 20);
    if (!limit) {
        return Error{ErrorCode::malformed,
                     fmt::format("limit must be a whole number between 1 and {}", limit_max), ""};
    }
    return PageQuery{*number, static_cast<int>(std::min(*limit, limit_max))};
}

Response page_response(const PageQuery& query, std::int64_t total,
                       const std::function<void(JsonWriter&)>& write_items) {
    Response response;
    response.body = page_begin;
    JsonWriter json(response.body);
    write_items(json);
    response.body += page_end(query, total);
    return response;
}

std::string page_end(const PageQuery& query, std::int64_t total) {
    return fmt::format(R"(],"pagination":{{"page":{},"limit":{},"total":{}}}}})", query.number,
                       query.limit, total);
}

}  // namespace sluice::http::apps
