#pragma once

#include <string_view>

#include "interfaces/http/message/message.hpp"

namespace sluice::http {

// An error answer after RFC 9457. `code` is the stable name that programs look at. A `pointer`
// (RFC 6901) says which part of the request body is meant.
Response problem(int status, std::string_view code, std::string_view detail,
                 std::string_view request_id, std::string_view pointer = {});

// The reason phrase of a status, such as "Not Found".
std::string_view reason_phrase(int status);

}  // namespace sluice::http
