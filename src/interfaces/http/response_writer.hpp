#pragma once

#include <string>
#include <string_view>

#include "interfaces/http/message.hpp"

namespace sluice::http {

// What the connection adds to an answer.
struct Envelope {
    std::string_view request_id;
    bool keep_alive = true;
    bool says_keep_alive = false;  // to a client of HTTP/1.0, for which that is not the default
    bool is_head = false;          // the answer to a HEAD request: its body is counted but not sent
    bool is_streamed = false;      // the body follows by and by and ends with the connection
};

// Appends the answer as it goes over the wire. Control characters in header values are left out, so
// that no value can start another header.
void append_response(std::string& out, const Response& response, const Envelope& envelope);

}  // namespace sluice::http
