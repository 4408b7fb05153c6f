#include "json/json_values.hpp"

#include <fmt/format.h>

#include "domain/values/json_text.hpp"
#include "json/json_reader.hpp"

namespace sluice {
namespace {

// Reads an attribute by `read`, when there is one and it is of this kind.
template <class Read>
auto read_attribute(const Attributes& attributes, std::string_view name, JsonReader::Kind kind,
                    Read read) -> std::optional<decltype(read(std::declval<JsonReader&>()))> {
    const auto found = attributes.find(name);
    if (found == attributes.end()) return std::nullopt;
    JsonReader reader(found->second);
    if (reader.kind() != kind) return std::nullopt;
    auto value = read(reader);
    if (!reader.finish()) return std::nullopt;
    return value;
}

}  // namespace

std::string json_string(std::string_view text) {
    std::string out;
    append_json_string(out, text);
    return out;
}

std::string json_time(Timestamp time) {
    return fmt::format("\"{}\"", to_rfc3339(time));
}

std::string json_list(const std::vector<std::string>& texts) {
    std::string out = "[";
    for (const std::string& text : texts) {
        if (out.size() > 1) out.push_back(',');
        append_json_string(out, text);
    }
    return out + "]";
}

Attributes json_members(std::string_view object) {
    Attributes members;
    JsonReader reader(object);
    if (reader.kind() != JsonReader::Kind::object) return members;
    reader.object([&](std::string_view key) { members.emplace(key, reader.raw()); });
    if (!reader.finish()) members.clear();
    return members;
}

std::string to_json(const Attributes& members) {
    std::string out = "{";
    for (const auto& [name, value] : members) {
        if (out.size() > 1) out.push_back(',');
        append_json_string(out, name);
        out.push_back(':');
        out += value;
    }
    return out + "}";
}

std::optional<std::string> text_of(const Attributes& attributes, std::string_view name) {
    return read_attribute(attributes, name, JsonReader::Kind::string,
                          [](JsonReader& reader) { return reader.string(); });
}

std::optional<std::int64_t> integer_of(const Attributes& attributes, std::string_view name) {
    return read_attribute(attributes, name, JsonReader::Kind::number,
                          [](JsonReader& reader) { return reader.integer(); });
}

std::optional<bool> truth_of(const Attributes& attributes, std::string_view name) {
    return read_attribute(attributes, name, JsonReader::Kind::boolean,
                          [](JsonReader& reader) { return reader.boolean(); });
}

std::optional<Timestamp> time_of(const Attributes& attributes, std::string_view name) {
    const auto text = text_of(attributes, name);
    return text ? parse_rfc3339(*text) : std::nullopt;
}

std::vector<std::string> texts_of(const Attributes& attributes, std::string_view name) {
    const auto read = [](JsonReader& reader) {
        std::vector<std::string> texts;
        reader.array([&](std::size_t) { texts.push_back(reader.string()); });
        return texts;
    };
    return read_attribute(attributes, name, JsonReader::Kind::array, read)
        .value_or(std::vector<std::string>());
}

}  // namespace sluice
