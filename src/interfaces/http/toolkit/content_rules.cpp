#include "interfaces/http/toolkit/content_rules.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "domain/values/ascii.hpp"
#include "interfaces/http/message/url.hpp"

namespace sluice::http {
namespace {

std::string_view trimmed(std::string_view text) {
    constexpr std::string_view blanks = " \t";
    const std::size_t start = std::min(text.find_first_not_of(blanks), text.size());
    text.remove_prefix(start);
    return text.substr(0, text.find_last_not_of(blanks) + 1);
}

// Takes the part before the next semicolon outside of quotes off the text.
std::string_view take_part(std::string_view& text) {
    bool is_quoted = false;
    std::size_t end = 0;
    for (; end < text.size() && (is_quoted || text[end] != ';'); ++end) {
        if (is_quoted && text[end] == '\\')
            ++end;
        else if (text[end] == '"')
            is_quoted = !is_quoted;
    }
    end = std::min(end, text.size());
    const std::string_view part = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    return trimmed(part);
}

bool is_utf8_name(std::string_view charset) {
    if (charset.size() >= 2 && charset.front() == '"' && charset.back() == '"') {
        charset = charset.substr(1, charset.size() - 2);
    }
    return equals_ignoring_case(charset, "utf-8") || equals_ignoring_case(charset, "utf8");
}

// Whether the parameters of a media type name no other charset.
bool is_in_utf8(std::string_view parameters) {
    while (!parameters.empty()) {
        const std::string_view part = take_part(parameters);
        const std::size_t equals = part.find('=');
        if (equals == part.npos) continue;
        const bool names_charset = equals_ignoring_case(trimmed(part.substr(0, equals)), "charset");
        if (names_charset && !is_utf8_name(trimmed(part.substr(equals + 1)))) return false;
    }
    return true;
}

bool is_encoded(const Request& request) {
    return std::any_of(request.headers.begin(), request.headers.end(), [](const auto& field) {
        return equals_ignoring_case(field.name, "Content-Encoding") &&
               !equals_ignoring_case(field.value, "identity");
    });
}

ContentRefusal unsupported(std::string message) {
    return {.code = "unsupported_media_type", .message = std::move(message)};
}

}  // namespace

std::optional<ContentRefusal> refuse_query(const Request& request, const Contract& contract,
                                           const Route& route) {
    if (request.query.empty() || contract.reading == Reading::tolerant ||
        route.query != Query::none) {
        return std::nullopt;
    }
    const auto params = QueryParams::parse(request.query);
    if (params && params->all().empty()) return std::nullopt;
    ContentRefusal refusal{.status = 400, .code = "malformed", .message = ""};
    refusal.message = params ? fmt::format("\"{}\" is not a known parameter; this call takes none",
                                           params->all().front().first)
                             : QueryParams::complaint;
    return refusal;
}

std::optional<ContentRefusal> refuse_body(const Request& request, const Contract& contract) {
    if (request.body.empty()) return std::nullopt;
    if (is_encoded(request)) {
        ContentRefusal refusal = unsupported("send the body as it is, without Content-Encoding");
        refusal.names_codings = true;
        return refusal;
    }
    const std::string_view* type = request.header("Content-Type");
    if (type ? *type == "application/json" : contract.reading == Reading::tolerant) {
        return std::nullopt;
    }
    std::string_view rest = type ? *type : std::string_view();
    if (!equals_ignoring_case(take_part(rest), "application/json")) {
        return unsupported("send Content-Type: application/json");
    }
    if (!is_in_utf8(rest))
        return unsupported("send the body in UTF-8: other charsets are not read");
    return std::nullopt;
}

}  // namespace sluice::http
