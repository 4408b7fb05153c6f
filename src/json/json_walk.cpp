#include "json/json_walk.hpp"

#include "json/json_reader.hpp"
#include "json/json_string.hpp"

namespace sluice {
namespace {

const char* skip_space(const char* at, const char* end) {
    while (at != end && (*at == ' ' || *at == '\t' || *at == '\n' || *at == '\r')) ++at;
    return at;
}

// The position behind the string that begins at `at`.
const char* string_end(const char* at, const char* end) {
    ++at;
    while (at != end && *at != '"') {
        if (*at == '\\' && at + 1 != end) ++at;
        ++at;
    }
    return at == end ? end : at + 1;
}

bool ends_scalar(char c) {
    return c == ',' || c == ']' || c == '}' || c == ' ' || c == '\t' || c == '\n' || c == '\r';
}

// The position behind the value that begins at `at`.
const char* value_end(const char* at, const char* end) {
    std::size_t depth = 0;
    do {
        if (at == end) return end;
        const char c = *at;
        if (c == '"') {
            at = string_end(at, end);
        } else if (c == '{' || c == '[') {
            ++depth;
            ++at;
        } else if (c == '}' || c == ']') {
            if (depth > 0) --depth;
            ++at;
        } else if (depth > 0) {
            ++at;
        } else {
            while (at != end && !ends_scalar(*at)) ++at;
        }
    } while (depth > 0);
    return at;
}

std::string_view between(const char* begin, const char* end) {
    return {begin, static_cast<std::size_t>(end - begin)};
}

std::string decoded_string(std::string_view source) {
    if (source.size() < 2) return {};
    return decode_escapes(source.substr(1, source.size() - 2));
}

class Walk {
  public:
    Walk(std::string_view text, const std::function<bool(const JsonPath&)>& is_wanted,
         const std::function<void(std::string_view)>& take)
        : at_(text.data()), end_(at_ + text.size()), is_wanted_(is_wanted), take_(take) {}

    void go_into() {
        at_ = skip_space(at_, end_);
        if (at_ == end_) return;
        if (*at_ == '{') return go_into_object();
        if (*at_ == '[') return go_into_array();
        at_ = value_end(at_, end_);
    }

  private:
    void go_into_object() {
        while (next_item()) {
            const char* const name = at_;
            at_ = string_end(at_, end_);
            path_.push_back({decoded_string(between(name, at_)), true});
            at_ = skip_space(at_, end_);
            if (at_ != end_) ++at_;  // the colon
            pass_value();
            path_.pop_back();
        }
    }

    void go_into_array() {
        for (std::size_t number = 0; next_item(); ++number) {
            path_.push_back({std::to_string(number), false});
            pass_value();
            path_.pop_back();
        }
    }

    // Moves past a bracket or comma to the item behind it; false, and past the end, where the
    // container ends.
    bool next_item() {
        at_ = skip_space(at_, end_);
        if (at_ == end_) return false;
        const bool is_end = *at_ == '}' || *at_ == ']';
        ++at_;
        if (is_end) return false;
        at_ = skip_space(at_, end_);
        if (at_ == end_) return false;
        if (*at_ != '}' && *at_ != ']') return true;
        ++at_;
        return false;
    }

    void pass_value() {
        at_ = skip_space(at_, end_);
        if (path_.size() <= JsonLimits::depth_possible && !is_wanted_(path_)) return go_into();
        const char* const begin = at_;
        at_ = value_end(at_, end_);
        take_(between(begin, at_));
    }

    const char* at_;
    const char* end_;
    const std::function<bool(const JsonPath&)>& is_wanted_;
    const std::function<void(std::string_view)>& take_;
    JsonPath path_;
};

}  // namespace

void take_values(std::string_view text, const std::function<bool(const JsonPath&)>& is_wanted,
                 const std::function<void(std::string_view)>& take) {
    Walk(text, is_wanted, take).go_into();
}

std::string JsonToken::decoded() const {
    return decoded_string(source);
}

void for_each_token(std::string_view text, const std::function<void(const JsonToken&)>& visit) {
    using Kind = JsonToken::Kind;
    const char* at = text.data();
    const char* const end = at + text.size();
    while (at != end) {
        const char* const begin = at;
        if (*at == '"') {
            at = string_end(at, end);
            const char* const next = skip_space(at, end);
            const bool is_name = next != end && *next == ':';
            visit({between(begin, at), is_name ? Kind::name : Kind::string});
        } else if (*at == '{' || *at == '}') {
            ++at;
            visit({between(begin, at), *begin == '{' ? Kind::object_begin : Kind::object_end});
        } else if (*at == '-' || (*at >= '0' && *at <= '9')) {
            at = value_end(at, end);
            visit({between(begin, at), Kind::number});
        } else {
            ++at;
        }
    }
}

}  // namespace sluice
