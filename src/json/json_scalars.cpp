// Reading single values: strings, integers, booleans.
#include <charconv>

#include "json/json_reader.hpp"
#include "json/json_string.hpp"

namespace sluice {
namespace {

// Whether the text is a fraction that a whole number may have.
bool is_zero_fraction(std::string_view text) {
    return text.size() > 1 && text.front() == '.' &&
           text.find_first_not_of('0', 1) == std::string_view::npos;
}

}  // namespace

std::string JsonReader::string() {
    if (is_tolerant() && (kind() == Kind::number || kind() == Kind::boolean)) {
        return std::string(raw());
    }
    if (!is_expected(Kind::string, "a string")) return {};
    const auto slice = read_string();
    if (!slice) return {};
    if (slice->has_nul) {
        refuse("must not contain \\u0000");
        return {};
    }
    return slice->escaped ? decode_escapes(slice->source) : std::string(slice->source);
}

std::int64_t JsonReader::integer(std::int64_t low, std::int64_t high) {
    const bool is_quoted = is_tolerant() && kind() == Kind::string;
    if (!is_quoted && !is_expected(Kind::number, "an integer")) return 0;
    const std::string_view text = scalar_text();
    if (failed()) return 0;
    std::int64_t value = 0;
    const char* const end = text.data() + text.size();
    const auto [stop, problem] = std::from_chars(text.data(), end, value);
    const bool is_whole = stop == end || (is_tolerant() && is_zero_fraction({stop, end}));
    if (!is_whole || problem == std::errc::invalid_argument) {
        refuse("must be an integer, without fraction or exponent");
        return 0;
    }
    if (problem != std::errc{} || value < low || value > high) {
        refuse("must be between " + std::to_string(low) + " and " + std::to_string(high));
        return 0;
    }
    return value;
}

bool JsonReader::boolean() {
    const bool is_loose = is_tolerant() && (kind() == Kind::string || kind() == Kind::number);
    if (!is_loose && !is_expected(Kind::boolean, "true or false")) return false;
    const std::string_view text = scalar_text();
    const bool value = text == "true" || text == "1";
    if (!value && text != "false" && text != "0") return refuse("must be true or false");
    return value;
}

std::string_view JsonReader::scalar_text() {
    if (kind() != Kind::string) return raw();
    const auto slice = read_string();
    return slice ? slice->source : std::string_view();
}

}  // namespace sluice
