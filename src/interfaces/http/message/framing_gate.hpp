#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "interfaces/http/message/message.hpp"

namespace sluice::http {

// The framing gate decides, before routing and before any body byte is looked at, whether a request
// is framed in the one way that every proxy reads alike. It trusts no parser for that: the grammar
// tells what the fields are, the gate tells whether they are acceptable. After each rejection the
// connection closes, so that nothing that follows can be taken for a request.

struct Rejection {
    int status = 400;
    std::string_view code;    // static text
    std::string_view detail;  // static text
};
inline constexpr Rejection body_too_large{
    413, "body_too_large",
    "the request body is larger than this call takes (limits.body_bytes, or a limit of the call); "
    "send less at once"};

// The parts that the grammar found in the head of a request. Its views point into the head.
struct Head {
    std::string_view bytes;
    Verb verb = Verb::other;
    std::string_view target;
    int version = 11;  // 10 for HTTP/1.0
    std::vector<HeaderField> headers;
};

struct GateRules {
    std::size_t header_bytes = 8 * 1024;  // of the whole head, with request line and line ends
    std::size_t header_count = 64;
    std::size_t target_bytes = 2048;
    std::vector<std::string> allowed_hosts{};  // as normal_host() gives them; empty: any
};

// How an accepted request is framed.
struct Framing {
    std::string_view target;     // path and query, also when the request names the host with them
    std::size_t body_bytes = 0;  // as announced
    bool is_chunked = false;     // the body is announced by its chunks instead
    bool keep_alive = true;
    bool says_keep_alive = false;  // the client, of HTTP/1.0, has to be told that it is kept
    bool expects_continue = false;
    std::string_view request_id;  // of the X-Request-Id header, when it is well-formed

    bool has_body() const { return is_chunked || body_bytes > 0; }
};

// Looks at the raw bytes of a head as they arrive, each byte once. Refuses line ends other than
// CR LF, folded lines, control characters, and heads that are too long.
class HeadScanner {
  public:
    struct NeedMore {};
    struct Complete {
        std::size_t head_bytes = 0;
    };
    using Outcome = std::variant<NeedMore, Complete, Rejection>;

    // `bytes` holds all bytes since the start of the request, those seen before included.
    Outcome scan(std::string_view bytes, const GateRules& rules);

    void restart() { *this = HeadScanner(); }

  private:
    Rejection too_long() const;

    std::size_t scanned_ = 0;
    std::size_t line_start_ = 0;
};

// The whole gate except for the limit of the body, which depends on the route.
std::variant<Framing, Rejection> check_framing(const Head& head, const GateRules& rules);

// Judges the announced size of the body by the limit of its route.
std::optional<Rejection> check_body_size(const Framing& framing, std::size_t body_bytes_max);

// The part of a target before the question mark, and the part after it.
std::string_view path_of(std::string_view target);
std::string_view query_of(std::string_view target);

// The name of a Host header or of a configured host: lower case, without port and brackets.
// Nothing when it is malformed.
std::optional<std::string> normal_host(std::string_view host);

}  // namespace sluice::http
