#pragma once

#include <charconv>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace sluice {

// A canonical form of fields, for hashes: each text as its length, a colon and its bytes, each
// number with a semicolon after it, so that no two different lists of fields have the same form.
class Canonical {
  public:
    explicit Canonical(std::string_view title) {
        text_.reserve(512);
        add(title);
    }

    void add(std::string_view field) {
        append_number(static_cast<std::int64_t>(field.size()));
        text_ += ':';
        text_ += field;
    }
    void add(std::int64_t number) {
        append_number(number);
        text_ += ';';
    }
    void add_all(const std::vector<std::string>& fields) {
        add(static_cast<std::int64_t>(fields.size()));
        for (const std::string& field : fields) add(std::string_view(field));
    }

    // Adds a field with its name, only when it is given: so a field of a later version does not
    // change the form of anything written without it.
    void add_given(std::string_view name, std::string_view field) {
        if (field.empty()) return;
        add(name);
        add(field);
    }
    void add_named(std::string_view name, std::int64_t number) {
        add(name);
        add(number);
    }

    std::string_view text() const { return text_; }

  private:
    void append_number(std::int64_t number) {
        char digits[24];
        const auto end = std::to_chars(digits, digits + sizeof digits, number).ptr;
        text_.append(digits, end);
    }

    std::string text_;
};

}  // namespace sluice
