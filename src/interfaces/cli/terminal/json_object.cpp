#include "interfaces/cli/terminal/json_object.hpp"

#include "json/json_reader.hpp"
#include "json/json_writer.hpp"

namespace sluice::cli {
namespace {

// An engine wraps the JSON of jobs, which may be 32 levels deep, into a few levels of its own.
constexpr std::size_t answer_depth_max = 48;

// A list of plain values with commas between them; of anything else its JSON.
std::string list_text(std::string_view json) {
    std::string out;
    bool is_plain_list = true;
    JsonReader reader(json, answer_depth_max);
    reader.array([&](std::size_t index) {
        const auto kind = reader.kind();
        if (kind == JsonReader::Kind::object || kind == JsonReader::Kind::array) {
            is_plain_list = false;
        }
        if (index > 0) out += ',';
        const std::string_view element = reader.raw();
        out += decoded_json_string(element).value_or(std::string(element));
    });
    return is_plain_list && reader.finish() ? out : std::string(json);
}

}  // namespace

JsonObject::JsonObject(std::string_view json) {
    JsonReader reader(json, answer_depth_max);
    if (reader.kind() != JsonReader::Kind::object) return;
    reader.object([&](std::string_view name) { members_.emplace_back(name, reader.raw()); });
    if (!reader.finish()) members_.clear();
}

const std::string* JsonObject::raw(std::string_view name) const {
    for (const auto& [member, value] : members_) {
        if (member == name) return &value;
    }
    return nullptr;
}

std::string JsonObject::text(std::string_view name) const {
    const std::string* value = raw(name);
    if (!value || *value == "null") return {};
    if (value->starts_with('[')) return list_text(*value);
    return decoded_json_string(*value).value_or(*value);
}

std::vector<std::string> JsonObject::elements(std::string_view name) const {
    std::vector<std::string> all;
    const std::string* list = raw(name);
    JsonReader reader(list ? std::string_view(*list) : std::string_view(), answer_depth_max);
    reader.array([&](std::size_t) { all.emplace_back(reader.raw()); });
    return all;
}

std::string JsonObject::picked(const std::vector<std::string>& names) const {
    return json_object_text([&](JsonWriter& json) {
        for (const std::string& name : names) {
            const std::string* value = raw(name);
            json.raw_field(name, value ? std::string_view(*value) : std::string_view("null"));
        }
    });
}

std::optional<std::string> decoded_json_string(std::string_view json) {
    JsonReader reader(json);
    if (reader.kind() != JsonReader::Kind::string) return std::nullopt;
    std::string text = reader.string();
    if (!reader.finish()) return std::nullopt;
    return text;
}

std::string on_one_line(std::string json) {
    for (char& c : json) {
        if (c == '\n' || c == '\r') c = ' ';
    }
    return json;
}

std::string indented_json(std::string_view json) {
    std::string out;
    std::size_t depth = 0;
    bool in_string = false;
    const auto new_line = [&] {
        out += '\n';
        out.append(depth * 2, ' ');
    };
    for (std::size_t i = 0; i < json.size(); ++i) {
        const char c = json[i];
        if (in_string) {
            out += c;
            if (c == '\\' && i + 1 < json.size()) out += json[++i];
            if (c == '"') in_string = false;
            continue;
        }
        if (c == ' ' || c == '\n' || c == '\r' || c == '\t') continue;
        if (c == '}' || c == ']') {
            --depth;
            if (out.back() != '{' && out.back() != '[') new_line();
        } else if (!out.empty() && (out.back() == '{' || out.back() == '[')) {
            new_line();
        }
        out += c;
        if (c == '{' || c == '[') ++depth;
        if (c == ',') new_line();
        if (c == ':') out += ' ';
        if (c == '"') in_string = true;
    }
    return out;
}

std::optional<std::string> json_problem(std::string_view text) {
    JsonReader reader(text);
    reader.raw();
    const auto done = reader.finish();
    if (done) return std::nullopt;
    const Error& error = done.error();
    return error.pointer.empty() ? error.message : error.pointer + " " + error.message;
}

}  // namespace sluice::cli
