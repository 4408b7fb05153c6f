#pragma once

#include <boost/json.hpp>
#include <cstdint>
#include <string>
#include <string_view>

namespace sluice::checker {

using Json = boost::json::value;

// The value of a member. A member that is absent or null is an empty text, a zero, a false, a null;
// one of another type throws, naming it.
std::string text(const Json& object, std::string_view member);
std::int64_t number(const Json& object, std::string_view member);
bool flag(const Json& object, std::string_view member);
const Json& member_of(const Json& object, std::string_view member);
const boost::json::array& list(const Json& object, std::string_view member);

}  // namespace sluice::checker
