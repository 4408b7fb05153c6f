#include "e2e/json.hpp"

#include <boost/json/src.hpp>  // here and nowhere else: the library is used without linking it
#include <stdexcept>

namespace sluice::e2e {

Json parse(std::string_view text) {
    boost::json::error_code error;
    boost::json::parse_options options;
    options.max_depth = 64;  // the engine's own limit is 32, within the lists and objects of a page
    Json value =
        boost::json::parse(boost::json::string_view(text.data(), text.size()), error, {}, options);
    if (error) throw std::runtime_error("not JSON: " + std::string(text.substr(0, 500)));
    return value;
}

const Json& at(const Json& object, std::string_view member) {
    if (!object.is_object()) throw std::runtime_error("not an object: " + serialize(object));
    const Json* found = object.as_object().if_contains({member.data(), member.size()});
    if (found == nullptr) {
        throw std::runtime_error("no " + std::string(member) + " in " + serialize(object));
    }
    return *found;
}

std::string text(const Json& object, std::string_view member) {
    const Json& value = at(object, member);
    if (value.is_null()) return {};
    if (!value.is_string()) throw std::runtime_error(std::string(member) + " is not a text");
    return std::string(value.as_string());
}

std::int64_t number(const Json& object, std::string_view member) {
    const Json& value = at(object, member);
    if (!value.is_int64()) throw std::runtime_error(std::string(member) + " is not a number");
    return value.as_int64();
}

bool flag(const Json& object, std::string_view member) {
    const Json& value = at(object, member);
    if (!value.is_bool()) throw std::runtime_error(std::string(member) + " is not a flag");
    return value.as_bool();
}

const List& list(const Json& object, std::string_view member) {
    const Json& value = at(object, member);
    if (!value.is_array()) throw std::runtime_error(std::string(member) + " is not a list");
    return value.as_array();
}

List list(Json&& object, std::string_view member) {
    return list(std::as_const(object), member);
}

Json at(Json&& object, std::string_view member) {
    return at(std::as_const(object), member);
}

bool is_null(const Json& object, std::string_view member) {
    return at(object, member).is_null();
}

std::string raw_member(std::string_view object, std::string_view member) {
    const std::string mark = "\"" + std::string(member) + "\":";
    const std::size_t found = object.find(mark);
    if (found == std::string_view::npos) throw std::runtime_error("no member " + mark);
    const std::size_t begin = found + mark.size();
    int depth = 0;
    bool quoted = false;
    for (std::size_t i = begin; i < object.size(); ++i) {
        const char c = object[i];
        if (quoted) {
            if (c == '\\') ++i;
            if (c == '"') quoted = false;
            continue;
        }
        if (c == '"') quoted = true;
        if (depth == 0 && (c == ',' || c == '}')) {
            return std::string(object.substr(begin, i - begin));
        }
        if (c == '{' || c == '[') ++depth;
        if (c == '}' || c == ']') --depth;
    }
    throw std::runtime_error("the text ends inside " + mark);
}

}  // namespace sluice::e2e
