#include "checker/json.hpp"

#include <stdexcept>

namespace sluice::checker {
namespace {

[[noreturn]] void refuse(const Json& object, std::string_view member, std::string_view kind) {
    throw std::runtime_error(std::string(member) + " is not " + std::string(kind) + " in " +
                             serialize(object).substr(0, 300));
}

}  // namespace

const Json& member_of(const Json& object, std::string_view member) {
    static const Json none;
    if (!object.is_object()) return none;
    const Json* found = object.as_object().if_contains({member.data(), member.size()});
    return found == nullptr ? none : *found;
}

std::string text(const Json& object, std::string_view member) {
    const Json& value = member_of(object, member);
    if (value.is_null()) return {};
    if (!value.is_string()) refuse(object, member, "a text");
    return std::string(value.as_string());
}

std::int64_t number(const Json& object, std::string_view member) {
    const Json& value = member_of(object, member);
    if (value.is_null()) return 0;
    if (!value.is_int64()) refuse(object, member, "a number");
    return value.as_int64();
}

bool flag(const Json& object, std::string_view member) {
    const Json& value = member_of(object, member);
    if (value.is_null()) return false;
    if (!value.is_bool()) refuse(object, member, "a flag");
    return value.as_bool();
}

const boost::json::array& list(const Json& object, std::string_view member) {
    static const boost::json::array none;
    const Json& value = member_of(object, member);
    if (value.is_null()) return none;
    if (!value.is_array()) refuse(object, member, "a list");
    return value.as_array();
}

}  // namespace sluice::checker
