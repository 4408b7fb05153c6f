#pragma once

#include <boost/json.hpp>
#include <string>
#include <string_view>

namespace sluice::e2e {

using Json = boost::json::value;
using Fields = boost::json::object;
using List = boost::json::array;

// Throws, naming the text, when it is not JSON.
Json parse(std::string_view text);

// The value of a member; these throw, naming the member, when it is absent or of another type. Null
// counts as an empty text.
std::string text(const Json& object, std::string_view member);
std::int64_t number(const Json& object, std::string_view member);
bool flag(const Json& object, std::string_view member);
const List& list(const Json& object, std::string_view member);
bool is_null(const Json& object, std::string_view member);
const Json& at(const Json& object, std::string_view member);

// A copy, for an object that is a temporary.
List list(Json&& object, std::string_view member);
Json at(Json&& object, std::string_view member);

// The bytes of a top-level member's value in the text of an object, as they stand there.
std::string raw_member(std::string_view object, std::string_view member);

}  // namespace sluice::e2e
