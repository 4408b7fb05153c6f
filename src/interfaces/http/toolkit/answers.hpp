#pragma once

#include <string>

#include "domain/values/result.hpp"
#include "interfaces/http/toolkit/app.hpp"

namespace sluice::http {

Response json(int status, std::string body);

// A refusal as RFC 9457 problem details.
Response problem_of(const Error& error, std::string_view request_id);

// Answers the call with it.
void send_refusal(const Call& call, const Error& error);

// A refusal in the form of the contract that the request is for.
Response refusal_by_contract(const Request& request, int status, std::string_view code,
                             const std::string& message);

// The refusal for a caller that is not known, or not any more. It is the same for every cause.
// `other_header` may bring a secret instead of a token.
Response unauthorized(const Request& request, std::string_view other_header = {});

// The stable name that programs look at, e.g. "lease_lost".
std::string_view code_of(ErrorCode code);

}  // namespace sluice::http
