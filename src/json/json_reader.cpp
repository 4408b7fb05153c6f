#include "json/json_reader.hpp"

#include <charconv>
#include <vector>

#include "domain/values/ascii.hpp"
#include "domain/values/json_text.hpp"
#include "domain/values/utf8.hpp"
#include "json/json_string.hpp"

namespace sluice {
namespace {

constexpr std::string_view not_json = "is not valid JSON at ";
constexpr std::size_t quoted_key_max = 100;  // bytes of a key that an error repeats

// For errors: a key of sensible length, cut between characters.
std::string shortened(std::string_view key) {
    if (key.size() <= quoted_key_max) return std::string(key);
    std::size_t size = quoted_key_max;
    while ((static_cast<unsigned char>(key[size]) & 0xC0) == 0x80) --size;
    return std::string(key.substr(0, size)) + "…";
}

void append_pointer_part(std::string& out, std::string_view part) {
    out.push_back('/');
    for (const char c : part) {
        if (c == '~') {
            out += "~0";
        } else if (c == '/') {
            out += "~1";
        } else {
            out.push_back(c);
        }
    }
}

// In the order of JsonReader::Kind.
constexpr const char* kind_names[] = {"an object", "an array", "a string", "a number",
                                      "a boolean", "null",     "nothing"};

// Whether the number that ends at `end` is finite. Only an exponent of three or more digits can
// make it otherwise, since the rest has at most 64 characters; and a negative one only makes it
// small.
bool is_finite(const char* begin, const char* exponent, const char* end) {
    if (exponent == nullptr || *exponent == '-' || end - exponent < 3) return true;
    double value = 0;
    return std::from_chars(begin, end, value).ec != std::errc::result_out_of_range;
}

}  // namespace

bool JsonReader::SeenKeys::add(std::string_view key) {
    if (count_ < few_.size()) {
        const auto end = few_.begin() + static_cast<std::ptrdiff_t>(count_);
        if (std::find(few_.begin(), end, key) != end) return false;
        few_[count_++] = key;
        return true;
    }
    if (many_.empty()) many_.insert(few_.begin(), few_.end());
    return many_.insert(key).second;
}

JsonReader::Kind JsonReader::kind() {
    skip_space();
    if (at_ == end_) return Kind::none;
    switch (*at_) {
        case '{': return Kind::object;
        case '[': return Kind::array;
        case '"': return Kind::string;
        case 't':
        case 'f': return Kind::boolean;
        case 'n': return Kind::null;
        default: return *at_ == '-' || is_digit(*at_) ? Kind::number : Kind::none;
    }
}

bool JsonReader::null() {
    return kind() == Kind::null && skip_literal("null");
}

std::string_view JsonReader::raw() {
    skip_space();
    const char* const start = at_;
    if (!skip_value()) return {};
    return {start, static_cast<std::size_t>(at_ - start)};
}

void JsonReader::fail(std::string what, ErrorCode code) {
    refuse(std::move(what), code);
}

void JsonReader::fail_within(Error error) {
    if (failed()) return;
    refuse(std::move(error.message), error.code);
    error_->pointer += error.pointer;
}

void JsonReader::fail_at(std::string_view member, std::string what) {
    if (failed()) return;
    refuse(std::move(what));
    append_pointer_part(error_->pointer, member);
}

Result<Done> JsonReader::finish() {
    skip_space();
    if (at_ != end_) refuse_text("nothing may follow the value");
    if (!error_) return Done{};
    Error error = *error_;
    const bool is_of_all = error.pointer.empty() || error.message.starts_with(not_json);
    if (is_of_all && !subject_.empty()) error.message.insert(0, std::string(subject_) + ' ');
    return error;
}

bool JsonReader::is_expected(Kind wanted, const char* what) {
    const Kind found = kind();
    if (found == wanted) return true;
    if (found == Kind::none) return refuse_text("a value is expected");
    return refuse(std::string("must be ") + what + ", not " + kind_names[static_cast<int>(found)]);
}

bool JsonReader::enter(Frame& frame) {
    const bool is_array = frame.is_array;
    if (!is_expected(is_array ? Kind::array : Kind::object, is_array ? "an array" : "an object")) {
        return false;
    }
    if (depth_ == depth_max_) return refuse_depth();
    ++at_;
    ++depth_;
    frame.parent = top_;
    top_ = &frame;
    return true;
}

bool JsonReader::leave() {
    --depth_;
    top_ = top_->parent;
    return false;
}

// Moves to the next member or element, or leaves after the closing bracket or a failure.
bool JsonReader::next_item() {
    Frame& frame = *top_;
    if (frame.count > 0 && at_ == frame.value) raw();
    if (failed()) return leave();
    frame.key = {};
    skip_space();
    if (skip(frame.is_array ? ']' : '}')) return leave();
    if (frame.count > 0 && !skip(',')) {
        refuse_separator(frame.is_array);
        return leave();
    }
    skip_space();
    ++frame.count;
    frame.value = at_;
    return true;
}

bool JsonReader::next_member(SeenKeys& seen) {
    return next_item() && (read_key(seen) || leave());
}

bool JsonReader::read_key(SeenKeys& seen) {
    if (at_ == end_ || *at_ != '"') return refuse_text("a quoted key is expected");
    if (top_->count > JsonLimits::keys) return refuse("has too many keys", ErrorCode::too_large);
    const auto slice = read_string();
    if (!slice) return false;
    if (slice->has_nul) return refuse("must not have \\u0000 in a key");
    top_->key =
        slice->escaped ? decoded_keys_.emplace_front(decode_escapes(slice->source)) : slice->source;
    if (!seen.add(top_->key)) return refuse('"' + shortened(top_->key) + "\" is given twice");
    if (!skip_colon()) return false;
    skip_space();
    top_->value = at_;
    return true;
}

void JsonReader::skip_space() {
    while (at_ != end_ && (*at_ == ' ' || *at_ == '\n' || *at_ == '\r' || *at_ == '\t')) ++at_;
}

bool JsonReader::skip(char c) {
    if (at_ == end_ || *at_ != c) return false;
    ++at_;
    return true;
}

bool JsonReader::skip_value() {
    const Kind next = kind();
    return next == Kind::object || next == Kind::array ? skip_nested() : skip_scalar();
}

bool JsonReader::skip_scalar() {
    switch (kind()) {
        case Kind::string: return read_string().has_value();
        case Kind::number: return skip_number();
        case Kind::boolean: return skip_literal(*at_ == 't' ? "true" : "false");
        case Kind::null: return skip_literal("null");
        default: return refuse_text("a value is expected");
    }
}

// A loop and not a recursion, so that depth costs no stack. Each bit of `arrays` says for one level
// whether it is an array, the innermost lowest.
bool JsonReader::skip_nested() {
    static_assert(JsonLimits::depth_possible <= 64);
    std::uint64_t arrays = 0;
    std::size_t level = depth_;
    const auto in_array = [&] { return (arrays & 1) != 0; };
    const auto skip_bracket = [&] {
        if (!skip(in_array() ? ']' : '}')) return false;
        arrays >>= 1;
        --level;
        return true;
    };
    do {
        bool ended = true;  // whether the value that begins here has also ended
        if (const Kind next = kind(); next == Kind::object || next == Kind::array) {
            if (level == depth_max_) return refuse_depth();
            ++at_;
            ++level;
            arrays = arrays << 1 | (next == Kind::array ? 1u : 0u);
            skip_space();
            ended = skip_bracket();
        } else if (!skip_scalar()) {
            return false;
        }
        while (ended && level > depth_) {
            skip_space();
            if (skip(',')) break;
            if (!skip_bracket()) return refuse_separator(in_array());
        }
        if (level > depth_ && !in_array() && !skip_key()) return false;
    } while (level > depth_);
    return true;
}

bool JsonReader::skip_key() {
    skip_space();
    if (at_ == end_ || *at_ != '"') return refuse_text("a quoted key is expected");
    return read_string() && skip_colon();
}

bool JsonReader::skip_colon() {
    skip_space();
    return skip(':') || refuse_text("':' is expected");
}

bool JsonReader::skip_number() {
    const char* const start = at_;
    const auto skip_digits = [&] {
        const char* const first = at_;
        while (at_ != end_ && is_digit(*at_)) ++at_;
        return at_ != first;
    };
    skip('-');
    if (!skip('0') && !skip_digits()) return refuse_text("a digit is expected");
    if (skip('.') && !skip_digits()) return refuse_text("a digit is expected");
    const char* exponent = nullptr;
    if (skip('e') || skip('E')) {
        exponent = at_;
        if (!skip('-')) skip('+');
        if (!skip_digits()) return refuse_text("a digit is expected");
    }
    if (static_cast<std::size_t>(at_ - start) > JsonLimits::number_chars) {
        return refuse("has a number of more than 64 characters", ErrorCode::too_large);
    }
    if (!is_finite(start, exponent, at_)) return refuse("has a number that is too large");
    return true;
}

bool JsonReader::skip_literal(std::string_view literal) {
    if (!std::string_view(at_, static_cast<std::size_t>(end_ - at_)).starts_with(literal)) {
        return refuse_text("a value is expected");
    }
    at_ += literal.size();
    return true;
}

// Moves past the string that begins here and checks each byte of it.
std::optional<JsonReader::StringSlice> JsonReader::read_string() {
    StringSlice slice;
    const char* const start = ++at_;
    for (;;) {
        at_ = skip_plain(at_, end_);
        if (at_ == end_) {
            refuse_text("the text ends inside a string");
            return std::nullopt;
        }
        if (*at_ == '"') break;
        std::size_t length = 0;
        if (*at_ == '\\') {
            slice.escaped = true;
            const EscapeSequence escape = read_escape(at_, end_);
            slice.has_nul |= escape.is_nul;
            length = escape.length;
            if (length == 0) refuse_text("a string has an escape that JSON does not know");
        } else if (static_cast<unsigned char>(*at_) < 0x20) {
            refuse_text("a string has a control character that is not escaped");
        } else {
            length = utf8_length(at_, end_);
            if (length == 0) refuse_text("a string is not valid UTF-8");
        }
        if (length == 0) return std::nullopt;
        at_ += length;
    }
    slice.source = {start, static_cast<std::size_t>(at_ - start)};
    ++at_;
    if (slice.source.size() > JsonLimits::string_bytes) {
        refuse("has a string of more than 256 KiB", ErrorCode::too_large);
        return std::nullopt;
    }
    return slice;
}

bool JsonReader::refuse(std::string what, ErrorCode code) {
    if (!failed()) error_ = Error{code, std::move(what), pointer()};
    at_ = end_;
    return false;
}

bool JsonReader::refuse_text(const char* what) {
    if (failed()) return false;
    if (begin_ == end_ && !subject_.empty()) {
        return refuse("is empty; send a JSON object", ErrorCode::malformed);
    }
    const std::string where = at_ == end_ ? "the end" : "byte " + std::to_string(at_ - begin_);
    return refuse(std::string(not_json) + where + ": " + what, ErrorCode::malformed);
}

bool JsonReader::refuse_depth() {
    return refuse("is nested more than " + std::to_string(depth_max_ - depth_) + " levels deep",
                  ErrorCode::malformed);
}

bool JsonReader::refuse_separator(bool is_array) {
    return refuse_text(is_array ? "',' or ']' is expected" : "',' or '}' is expected");
}

std::string JsonReader::pointer() const {
    std::vector<const Frame*> path;
    for (const Frame* frame = top_; frame != nullptr; frame = frame->parent) path.push_back(frame);
    std::string out;
    for (auto frame = path.rbegin(); frame != path.rend(); ++frame) {
        if ((*frame)->is_array && (*frame)->count > 0) {
            append_pointer_part(out, std::to_string((*frame)->count - 1));
        } else if ((*frame)->key.data() != nullptr) {
            append_pointer_part(out, shortened((*frame)->key));
        }
    }
    return out;
}

}  // namespace sluice
