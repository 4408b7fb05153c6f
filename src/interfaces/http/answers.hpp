#pragma once

#include <string>

#include "domain/result.hpp"
#include "interfaces/http/message.hpp"

namespace sluice::http {

Response json(int status, std::string body);

// A refusal as RFC 9457 problem details.
Response problem_of(const Error& error, std::string_view request_id);

// The stable name that programs look at, e.g. "lease_lost".
std::string_view code_of(ErrorCode code);

}  // namespace sluice::http
