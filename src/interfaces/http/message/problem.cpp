#include "interfaces/http/message/problem.hpp"

#include <array>
#include <string>

#include "domain/values/json_text.hpp"

namespace sluice::http {
namespace {

struct Phrase {
    int status = 0;
    std::string_view text;
};

constexpr std::array phrases{
    Phrase{200, "OK"},
    Phrase{201, "Created"},
    Phrase{202, "Accepted"},
    Phrase{204, "No Content"},
    Phrase{301, "Moved Permanently"},
    Phrase{302, "Found"},
    Phrase{303, "See Other"},
    Phrase{304, "Not Modified"},
    Phrase{307, "Temporary Redirect"},
    Phrase{308, "Permanent Redirect"},
    Phrase{400, "Bad Request"},
    Phrase{401, "Unauthorized"},
    Phrase{403, "Forbidden"},
    Phrase{404, "Not Found"},
    Phrase{405, "Method Not Allowed"},
    Phrase{406, "Not Acceptable"},
    Phrase{408, "Request Timeout"},
    Phrase{409, "Conflict"},
    Phrase{410, "Gone"},
    Phrase{411, "Length Required"},
    Phrase{412, "Precondition Failed"},
    Phrase{413, "Content Too Large"},
    Phrase{414, "URI Too Long"},
    Phrase{415, "Unsupported Media Type"},
    Phrase{417, "Expectation Failed"},
    Phrase{421, "Misdirected Request"},
    Phrase{422, "Unprocessable Content"},
    Phrase{428, "Precondition Required"},
    Phrase{429, "Too Many Requests"},
    Phrase{431, "Request Header Fields Too Large"},
    Phrase{500, "Internal Server Error"},
    Phrase{501, "Not Implemented"},
    Phrase{502, "Bad Gateway"},
    Phrase{503, "Service Unavailable"},
    Phrase{504, "Gateway Timeout"},
    Phrase{505, "HTTP Version Not Supported"},
    Phrase{507, "Insufficient Storage"},
};

void append_member(std::string& out, std::string_view name, std::string_view value) {
    out += ",\"";
    out += name;
    out += "\":";
    append_json_string(out, value);
}

}  // namespace

std::string_view reason_phrase(int status) {
    for (const Phrase& phrase : phrases) {
        if (phrase.status == status) return phrase.text;
    }
    return "Unknown";
}

Response problem(int status, std::string_view code, std::string_view detail,
                 std::string_view request_id, std::string_view pointer) {
    Response response;
    response.status = status;
    response.content_type = "application/problem+json";
    std::string& out = response.body;
    out.reserve(256 + detail.size() * 2);

    out += "{\"type\":";
    append_json_string(out, std::string("https://sluice.dev/problems/").append(code));
    append_member(out, "title", reason_phrase(status));
    out += ",\"status\":";
    out += std::to_string(status);
    append_member(out, "detail", detail);
    append_member(out, "code", code);
    append_member(out, "request_id", request_id);
    if (!pointer.empty()) {
        out += ",\"errors\":[{\"pointer\":";
        append_json_string(out, pointer);
        append_member(out, "detail", detail);
        out += "}]";
    }
    out.push_back('}');
    return response;
}

}  // namespace sluice::http
