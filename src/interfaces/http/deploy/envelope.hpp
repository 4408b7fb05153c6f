#pragma once

#include <string>
#include <string_view>

#include "domain/result.hpp"
#include "interfaces/http/message.hpp"

// Every answer of this contract is {"code":…,"message":…,"data":…}. A refusal has the HTTP status
// 200 and says by its code what it is; only who may not ask, and who should ask again later, is
// told by the HTTP status, too.
namespace sluice::http::deploy {

// `data` is JSON.
Response success(std::string_view data);

// Not found is 404, what the job's state does not allow 409, and what cannot be read or is not
// allowed 500.
Response refused(const Error& error);

// A refusal over HTTP 200 that says by its data, which is JSON, how things are.
Response refused_with(int code, std::string_view message, std::string_view data = "null");

// What stands before the data of a success; a brace follows it.
std::string success_begin();

// A refusal whose HTTP status is its code.
Response refused_by_status(int status, std::string_view message);

}  // namespace sluice::http::deploy
