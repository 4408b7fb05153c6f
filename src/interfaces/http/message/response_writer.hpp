#pragma once

#include <string>
#include <string_view>

#include "interfaces/http/message/message.hpp"

namespace sluice::http {

// The properties that the connection adds to an answer.
struct Envelope {
    std::string_view request_id;
    bool keep_alive = true;
    bool says_keep_alive = false;  // to a client of HTTP/1.0, for which that is not the default
    bool is_head = false;          // the answer to a HEAD request: its body is counted but not sent
    bool is_streamed = false;      // more of the body follows, and it ends with the connection
    bool is_chunked = false;       // more of the body follows in chunks
};

// Appends the answer as it goes over the wire. Control characters in header values are left out, so
// that no value can start another header.
void append_response(std::string& out, const Response& response, const Envelope& envelope);

// Appends a part of a chunked body. An empty one is left out, since it would be the end.
void append_chunk(std::string& out, std::string_view bytes);

inline constexpr std::string_view last_chunk = "0\r\n\r\n";

}  // namespace sluice::http
