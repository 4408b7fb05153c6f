#pragma once

#include <string_view>

#include "application/access/access_tokens.hpp"
#include "json/json_writer.hpp"

// Access tokens in the form of the native API.
namespace sluice::http::native {

// The new token that the body of a request describes. Without them in the body: the caller's own
// tenant, and the usual life from `now` on.
Result<NewToken> read_new_token(std::string_view body, const Caller& by, Timestamp now);

// These write the members of an object that is open. None of them is a secret.
void write_caller(JsonWriter& json, const Caller& caller);
void write_token(JsonWriter& json, const AccessToken& token, Timestamp now);

// {"tokens":[…]}
std::string token_list_json(const std::vector<AccessToken>& tokens, Timestamp now);

// One token; `text` is the token's own text, which only the answer that makes it contains, or
// empty.
std::string token_json(const AccessToken& token, Timestamp now, std::string_view text);

}  // namespace sluice::http::native
