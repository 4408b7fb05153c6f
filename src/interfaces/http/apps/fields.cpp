#include "interfaces/http/apps/fields.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "application/toolkit/names.hpp"
#include "interfaces/http/requests/fields.hpp"
#include "json/json_reader.hpp"
#include "json/json_values.hpp"

namespace sluice::http::apps {
namespace {

constexpr std::size_t text_bytes_max = 10'000;
constexpr std::size_t object_bytes_max = 64 * 1024;
constexpr std::size_t ids_max = 1000;

void refuse_length(JsonReader& reader, std::size_t bytes_max) {
    reader.fail(fmt::format("has more than {} bytes", bytes_max), ErrorCode::too_large);
}

std::string read_name(JsonReader& reader, std::string_view field) {
    const std::string name = reader.string();
    if (name.empty()) reader.fail("must not be empty");
    if (auto refusal = check_name(field, name)) reader.fail(refusal->message, refusal->code);
    return json_string(name);
}

std::string read_text(JsonReader& reader) {
    const std::string text = reader.string();
    if (text.size() > text_bytes_max) refuse_length(reader, text_bytes_max);
    return json_string(text);
}

std::string read_id(JsonReader& reader) {
    std::string id = reader.string();
    if (!is_id(id)) reader.fail("must be 24 hex digits");
    return json_string(id);
}

std::string read_ids(JsonReader& reader) {
    const std::vector<std::string> ids = read_strings(reader, ids_max);
    if (!std::all_of(ids.begin(), ids.end(), is_id)) reader.fail("must be ids of 24 hex digits");
    return json_list(ids);
}

template <class ReadValue>
std::string read_object(JsonReader& reader, ReadValue read_value) {
    Attributes members;
    reader.object([&](std::string_view key) { members.emplace(key, read_value()); });
    std::string object = to_json(members);
    if (object.size() > object_bytes_max) refuse_length(reader, object_bytes_max);
    return object;
}

// A value with its type: {"type","value"}, in this order.
std::string read_typed(JsonReader& reader) {
    std::string type, value;
    reader.object([&](std::string_view key) {
        if (key == "type") type = read_name(reader, "type");
        if (key == "value") value = reader.raw();
    });
    if (type.empty()) reader.fail_at("type", "is required");
    if (value.empty()) reader.fail_at("value", "is required");
    return to_json({{"type", type}, {"value", value}});
}

std::string read_text_or_typed(JsonReader& reader) {
    return reader.kind() == JsonReader::Kind::object ? read_typed(reader) : read_text(reader);
}

std::string read_value(JsonReader& reader, const Field& field) {
    switch (field.form) {
        case Form::name: return read_name(reader, field.name);
        case Form::text: return read_text(reader);
        case Form::id: return read_id(reader);
        case Form::ids: return read_ids(reader);
        case Form::integer: return std::to_string(reader.integer());
        case Form::texts: return read_object(reader, [&] { return read_text(reader); });
        case Form::typed: return read_object(reader, [&] { return read_text_or_typed(reader); });
        case Form::values: return read_object(reader, [&] { return std::string(reader.raw()); });
    }
    return {};
}

bool may_be_taken_away(Form form) {
    return form != Form::name && form != Form::ids;
}

void put_field(JsonReader& reader, Attributes& fields, const Field& field, std::string value) {
    const std::string_view name = field.means.empty() ? field.name : field.means;
    const auto [kept, is_new] = fields.emplace(name, value);
    if (is_new || kept->second == value) return;
    reader.fail(
        fmt::format("another field that means \"{}\" has another value; send one of them", name));
}

Result<Attributes> read_body(const Request& request, Fields known, bool null_takes_away) {
    Attributes fields;
    JsonReader reader = body_reader(request);
    UnknownFields unknown;
    reader.object([&](std::string_view key) {
        const auto field = std::find_if(known.begin(), known.end(),
                                        [&](const Field& one) { return one.name == key; });
        if (field == known.end()) return unknown.add(key);
        const bool can_be_null = !null_takes_away || may_be_taken_away(field->form);
        if (can_be_null && reader.null()) {
            if (null_takes_away) put_field(reader, fields, *field, "null");
            return;
        }
        put_field(reader, fields, *field, read_value(reader, *field));
    });
    unknown.refuse(reader);
    if (const auto done = reader.finish(); !done) return done.error();
    return fields;
}

}  // namespace

Result<Attributes> read_fields(const Request& request, Fields known) {
    return read_body(request, known, false);
}

Result<Attributes> read_changes(const Request& request, Fields known) {
    return read_body(request, known, true);
}

std::string take_text(Attributes& attributes, std::string_view name) {
    std::string text = text_of(attributes, name).value_or(std::string());
    if (const auto found = attributes.find(name); found != attributes.end()) {
        attributes.erase(found);
    }
    return text;
}

Error missing_field(std::string_view name) {
    return refuse(name, "is required");
}

bool is_id(std::string_view text) {
    return text.size() == 24 &&
           text.find_first_not_of("0123456789abcdef") == std::string_view::npos;
}

}  // namespace sluice::http::apps
