#pragma once

#include <charconv>
#include <concepts>
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

#include "domain/values/json_text.hpp"
#include "domain/values/time.hpp"

namespace sluice {

// A type with an append_text() of its own, such as an id. That text must need no escapes.
template <class T>
concept TextAppendable = requires(std::string& out, const T& value) {
    append_text(out, value);
};

// Appends JSON to a string and puts the commas. It does not check that the calls form a document.
//
//     JsonWriter json(out);
//     json.begin_object();
//     json.field("id", job.spec->id);
//     json.raw_field("payload", job.spec->payload);
//     json.end_object();
class JsonWriter {
  public:
    explicit JsonWriter(std::string& out) : out_(out) {}

    void begin_object() { begin('{'); }
    void end_object() { end('}'); }
    void begin_array() { begin('['); }
    void end_array() { end(']'); }

    // A member whose value follows: key("items"), begin_array(), ... The name must need no escapes.
    void key(std::string_view name) {
        if (!parted_) out_.push_back(',');
        out_.push_back('"');
        out_.append(name);
        out_.append("\":", 2);
        parted_ = true;
    }

    // A member whose value is an object; `write` adds its members.
    void object(std::string_view name, auto&& write) {
        key(name);
        begin_object();
        write();
        end_object();
    }

    // A member whose value is an array; `write` adds the value for each of these.
    void array(std::string_view name, const auto& items, auto&& write) {
        key(name);
        begin_array();
        for (const auto& item : items) write(item);
        end_array();
    }

    // A member whose value is an array of these.
    void list(std::string_view name, const auto& items) {
        array(name, items, [&](const auto& item) { value(item); });
    }

    // A member whose value is an array with an object for each of these; `write` adds its members.
    void objects(std::string_view name, const auto& items, auto&& write) {
        array(name, items, [&](const auto& item) {
            begin_object();
            write(item);
            end_object();
        });
    }

    void value(std::string_view text) {
        separate();
        append_json_string(out_, text);
    }
    void value(const char* text) { value(std::string_view(text)); }
    void value(const std::string& text) { value(std::string_view(text)); }

    void value(std::same_as<bool> auto truth) { raw_value(truth ? "true" : "false"); }

    template <std::integral T>
    requires(!std::same_as<T, bool> && !std::same_as<T, char>) void value(T number) {
        char digits[24];
        const auto end = std::to_chars(digits, digits + sizeof digits, number).ptr;
        raw_value({digits, static_cast<std::size_t>(end - digits)});
    }

    void value(std::nullptr_t) { raw_value("null"); }

    // RFC 3339, see append_rfc3339.
    void value(Timestamp time) {
        separate();
        out_.push_back('"');
        append_rfc3339(out_, time);
        out_.push_back('"');
    }

    void value(const TextAppendable auto& named) {
        separate();
        out_.push_back('"');
        append_text(out_, named);
        out_.push_back('"');
    }

    // null when there is none.
    template <class T>
    void value(const std::optional<T>& maybe) {
        if (maybe) {
            value(*maybe);
        } else {
            value(nullptr);
        }
    }

    // JSON text as it is; it must be one valid value.
    void raw_value(std::string_view json) {
        separate();
        out_.append(json);
    }

    template <class T>
    void field(std::string_view name, const T& content) {
        key(name);
        value(content);
    }

    // null when the text is empty.
    void text_or_null(std::string_view name, std::string_view text) {
        key(name);
        text.empty() ? value(nullptr) : value(text);
    }

    void raw_field(std::string_view name, std::string_view json) {
        key(name);
        raw_value(json);
    }

  private:
    // Writes the comma before the next item, unless it is the first in its container or after its
    // key.
    void separate() {
        if (!parted_) out_.push_back(',');
        parted_ = false;
    }
    void begin(char bracket) {
        separate();
        out_.push_back(bracket);
        parted_ = true;
    }
    void end(char bracket) {
        out_.push_back(bracket);
        parted_ = false;
    }

    std::string& out_;
    bool parted_ = true;  // whether the next value or key needs no comma
};

// The text of one value, which `write` adds to a JsonWriter.
std::string json_text(auto&& write) {
    std::string out;
    JsonWriter json(out);
    write(json);
    return out;
}

// The text of an object, whose members `write` adds to a JsonWriter.
std::string json_object_text(auto&& write) {
    return json_text([&](JsonWriter& json) {
        json.begin_object();
        write(json);
        json.end_object();
    });
}

}  // namespace sluice
