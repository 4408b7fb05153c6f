#pragma once

#include <string>
#include <string_view>

#include "domain/values/result.hpp"
#include "interfaces/http/message/message.hpp"

// Every answer of this contract is {"code":…,"message":…,"data":…}. A refusal has the HTTP status
// 200 and is told by its code; only a request that lacks a right, or that should be sent again
// later, is refused by the HTTP status, too.
namespace sluice::http::deploy {

// `data` is JSON.
Response success(std::string_view data);

// The code is 404 for not found, 409 for an action that the job's state does not allow, and 500 for
// a request that cannot be read or is not allowed.
Response refused(const Error& error);

// A refusal over HTTP 200 whose data, which is JSON, gives the present state.
Response refused_with(int code, std::string_view message, std::string_view data = "null");

// The text before the data of a success; a brace follows it.
std::string success_begin();

// A refusal whose HTTP status is its code.
Response refused_by_status(int status, std::string_view message);

}  // namespace sluice::http::deploy
