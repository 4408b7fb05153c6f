#include "interfaces/http/message/response_writer.hpp"

#include <algorithm>
#include <array>
#include <charconv>

#include "domain/values/ascii.hpp"
#include "interfaces/http/message/problem.hpp"

namespace sluice::http {
namespace {

void append_number(std::string& out, std::size_t number) {
    std::array<char, 20> digits{};
    const auto end = std::to_chars(digits.data(), digits.data() + digits.size(), number).ptr;
    out.append(digits.data(), end);
}

bool is_control(char c) {
    return (c >= 0 && c < 0x20 && c != '\t') || c == 0x7f;
}

void append_field(std::string& out, std::string_view name, std::string_view value) {
    out += name;
    out += ": ";
    if (std::none_of(value.begin(), value.end(), [](char c) { return is_control(c); })) [[likely]] {
        out += value;
    } else {
        std::copy_if(value.begin(), value.end(), std::back_inserter(out),
                     [](char c) { return !is_control(c); });
    }
    out += "\r\n";
}

void append_status_line(std::string& out, int status) {
    if (status == 200) {
        out += "HTTP/1.1 200 OK\r\n";
        return;
    }
    out += "HTTP/1.1 ";
    append_number(out, static_cast<std::size_t>(status));
    out.push_back(' ');
    out += reason_phrase(status);
    out += "\r\n";
}

bool is_bodiless(int status) {
    return status == 204 || status == 304;
}

}  // namespace

void append_response(std::string& out, const Response& response, const Envelope& envelope) {
    append_status_line(out, response.status);
    const bool has_length = !envelope.is_streamed && !envelope.is_chunked;
    if (!response.body.empty() || !has_length) {
        append_field(out, "Content-Type", response.content_type);
    }
    if (envelope.is_chunked) out += "Transfer-Encoding: chunked\r\n";
    if (has_length && !is_bodiless(response.status)) {
        out += "Content-Length: ";
        append_number(out, response.body.size());
        out += "\r\n";
    }

    bool has_cache_rule = false;
    for (const auto& [name, value] : response.headers) {
        append_field(out, name, value);
        has_cache_rule = has_cache_rule || equals_ignoring_case(name, "Cache-Control");
    }
    if (!has_cache_rule) out += "Cache-Control: no-store\r\n";
    out += "X-Content-Type-Options: nosniff\r\n";
    append_field(out, "X-Request-Id", envelope.request_id);
    if (!envelope.keep_alive) out += "Connection: close\r\n";
    if (envelope.keep_alive && envelope.says_keep_alive) out += "Connection: keep-alive\r\n";
    out += "\r\n";

    if (envelope.is_head || is_bodiless(response.status)) return;
    if (envelope.is_chunked) return append_chunk(out, response.body);
    out += response.body;
}

void append_chunk(std::string& out, std::string_view bytes) {
    if (bytes.empty()) return;
    std::array<char, 16> digits{};
    const auto end = std::to_chars(digits.data(), digits.data() + digits.size(), bytes.size(), 16);
    out.append(digits.data(), end.ptr);
    out += "\r\n";
    out += bytes;
    out += "\r\n";
}

}  // namespace sluice::http
