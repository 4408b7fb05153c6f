#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "interfaces/http/requests/fields.hpp"
#include "json/json_reader.hpp"

// Reading the parts that several of this contract's requests have in common.
namespace sluice::http::deploy {

// Reads the members of an object by `read_field`, which returns false for a name that it does not
// know; null counts as not given. A request without a body is an empty object.
template <class ReadField>
Result<Done> read_body(const Request& request, ReadField read_field) {
    JsonReader reader = body_reader(request);
    UnknownFields unknown;
    reader.object([&](std::string_view key) {
        if (reader.null()) return;
        if (!read_field(reader, key)) unknown.add(key);
    });
    unknown.refuse(reader);
    return reader.finish();
}

Error missing(std::string_view field, std::string_view why);

std::vector<std::string> read_names(JsonReader& reader);
Duration read_seconds(JsonReader& reader, std::int64_t low, Duration high);

// A text of which only the end is kept when it is too long, since errors name their cause there.
std::string read_tail(JsonReader& reader, std::size_t bytes_max);

// An app's id is a text or a whole number.
inline constexpr std::size_t app_id_bytes = 128;
std::string read_app_id(JsonReader& reader);

// A node is named by its number, or by its name.
std::string read_node_name(JsonReader& reader);

// A number that may have a fraction, or a text of one.
double read_real(JsonReader& reader);

// An address that begins with http:// or https://, or nothing.
std::string read_address(JsonReader& reader);

}  // namespace sluice::http::deploy
