#include "interfaces/http/deploy/body_fields.hpp"

#include <fmt/format.h>

#include <charconv>
#include <cmath>

#include "application/toolkit/names.hpp"

namespace sluice::http::deploy {

Error missing(std::string_view field, std::string_view why) {
    return refuse(field, fmt::format("is required: {}", why));
}

std::vector<std::string> read_names(JsonReader& reader) {
    std::vector<std::string> names = read_labels(reader);
    if (const auto refusal = check_list("", names, limits::name_bytes)) {
        reader.fail(refusal->message, refusal->code);
    }
    return names;
}

Duration read_seconds(JsonReader& reader, std::int64_t low, Duration high) {
    const auto seconds_max = std::chrono::duration_cast<std::chrono::seconds>(high).count();
    return std::chrono::seconds(reader.integer(low, seconds_max));
}

std::string read_tail(JsonReader& reader, std::size_t bytes_max) {
    std::string text = reader.string();
    if (text.size() <= bytes_max) return text;
    std::size_t begin = text.size() - bytes_max;
    while (begin < text.size() && (static_cast<unsigned char>(text[begin]) & 0xC0) == 0x80) ++begin;
    return text.substr(begin);
}

std::string read_app_id(JsonReader& reader) {
    const bool is_number = reader.kind() == JsonReader::Kind::number;
    std::string id = is_number ? std::to_string(reader.integer()) : read_name(reader);
    if (id.size() > app_id_bytes) {
        reader.fail(fmt::format("has more than {} bytes", app_id_bytes), ErrorCode::too_large);
    }
    return id;
}

std::string read_node_name(JsonReader& reader) {
    const bool is_number = reader.kind() == JsonReader::Kind::number;
    return is_number ? std::to_string(reader.integer()) : read_name(reader);
}

double read_real(JsonReader& reader) {
    const bool is_number = reader.kind() == JsonReader::Kind::number;
    const std::string text = is_number ? std::string(reader.raw()) : reader.string();
    double number = 0;
    const auto read = std::from_chars(text.data(), text.data() + text.size(), number);
    const bool is_whole = read.ec == std::errc() && read.ptr == text.data() + text.size();
    if (!is_whole || !std::isfinite(number)) reader.fail("must be a number");
    return number;
}

std::string read_address(JsonReader& reader) {
    constexpr std::size_t address_bytes = 1000;
    std::string address = reader.string();
    const bool is_address = address.starts_with("http://") || address.starts_with("https://");
    if (!address.empty() && !is_address) reader.fail("must begin with http:// or https://");
    if (address.size() > address_bytes) {
        reader.fail(fmt::format("has more than {} bytes", address_bytes), ErrorCode::too_large);
    }
    return address;
}

}  // namespace sluice::http::deploy
