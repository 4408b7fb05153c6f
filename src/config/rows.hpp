#pragma once

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "config/listing.hpp"
#include "config/section.hpp"
#include "config/values.hpp"

// Settings as data: a row describes one setting, and all code about settings goes over the rows. An
// Owner is the struct that has the values as its members.
namespace sluice {

// Whether a value, or a part of it (the password in an address), is kept out of what is shown.
enum class Secrecy { none, part, whole };

// The form of a setting's values: how they are read into their owner and shown from it.
template <class Owner>
struct Form {
    // Changes the owner only when the key is there and its value is allowed; else notes a problem.
    std::function<void(Section&, std::string_view key, Owner&)> read{};
    std::function<void(Listing&, const SettingKey&, const Owner&)>
        show{};                                    // nothing: it is not shown
    std::string range{};                           // for people: "1 to 8"
    TomlValue::Kind kind = TomlValue::Kind::text;  // of the value in a file
    Secrecy secrecy = Secrecy::none;
};

// The sources of a setting beside the file.
struct Outside {
    std::string variable{};
    std::string flag{};
    std::string argument{};  // of the flag: "HOST:PORT"
    std::string allowed{};   // the allowed values in an error, when the file's error differs
};

inline Outside from(std::string variable, std::string flag = "", std::string argument = "",
                    std::string allowed = "") {
    return {std::move(variable), std::move(flag), std::move(argument), std::move(allowed)};
}

template <class Owner>
struct Row {
    std::string key;  // with the path of its table: "limits.idle_time"
    Form<Owner> form;
    std::string help{};  // one or two sentences; the first is that of the flag
    Outside outside{};
    std::string example{};    // a value for the example file, where the default is none
    std::string needed{};     // why it must be there, when its table is
    std::string other_key{};  // another key by which a file may give the same value
    bool in_file = true;
};

template <class Owner>
using Rows = std::vector<Row<Owner>>;

// A row that must be in its table.
template <class Owner>
Row<Owner> needed(std::string key, Form<Owner> form, std::string why) {
    return {std::move(key), std::move(form), "", Outside(), "", std::move(why)};
}

// Answers whether the value can be used; notes the problem when it cannot.
template <class T>
using Check = std::function<bool(Section&, std::string_view key, const T&)>;

// The form of a member: `read(section, key)` gives a value or nothing, `write(value)` its text.
template <class Owner, class T, class Read, class Write>
Form<Owner> form_of(T Owner::*member, Read read, Write write, std::string range,
                    TomlValue::Kind kind = TomlValue::Kind::text) {
    Form<Owner> form{.range = std::move(range), .kind = kind};
    form.read = [=](Section& section, std::string_view key, Owner& out) {
        auto value = read(section, key);
        if (!value) return;
        if constexpr (requires { static_cast<T>(*std::move(value)); }) {
            out.*member = static_cast<T>(*std::move(value));
        } else {
            out.*member = std::chrono::duration_cast<T>(*value);
        }
    };
    form.show = [=](Listing& out, const SettingKey& setting, const Owner& owner) {
        out.add(setting, write(owner.*member));
    };
    return form;
}

template <class Owner, class T>
Form<Owner> integer(T Owner::*member, std::int64_t low, std::int64_t high) {
    const auto read = [=](Section& in, std::string_view key) { return in.integer(key, low, high); };
    const auto write = [](T value) { return fmt::to_string(value); };
    const std::string range = fmt::format("{} to {}", low, high);
    return form_of(member, read, write, range, TomlValue::Kind::integer);
}

template <class Owner, class T>
Form<Owner> duration(T Owner::*member, Duration low, Duration high) {
    const auto read = [=](Section& in, std::string_view key) {
        return in.duration(key, low, high);
    };
    const auto write = [](T value) { return quoted(value); };
    return form_of(member, read, write,
                   fmt::format("{} to {}", duration_text(low), duration_text(high)));
}

template <class Owner>
Form<Owner> flag(bool Owner::*member) {
    const auto read = [](Section& in, std::string_view key) { return in.flag(key); };
    return form_of(member, read, flag_text, "true or false", TomlValue::Kind::flag);
}

template <class Owner>
Form<Owner> text(std::string Owner::*member, std::size_t max = limits::name_bytes,
                 Check<std::string> check = {}) {
    const auto read = [=](Section& in, std::string_view key) {
        auto value = in.text(key, max);
        return value && check && !check(in, key, *value) ? std::nullopt : value;
    };
    const auto write = [](const std::string& value) { return quoted(value); };
    return form_of(member, read, write, "text");
}

// A text with a user, a password or a query, perhaps, which are not shown.
template <class Owner>
Form<Owner> address(std::string Owner::*member, Check<std::string> check = {}) {
    Form<Owner> form = text(member, path_bytes, std::move(check));
    form.show = [=](Listing& out, const SettingKey& setting, const Owner& owner) {
        out.add_url(setting, owner.*member);
    };
    form.range = "address";
    form.secrecy = Secrecy::part;
    return form;
}

template <class Owner>
Form<Owner> texts(std::vector<std::string> Owner::*member,
                  Check<std::vector<std::string>> check = {}) {
    const auto read = [=](Section& in, std::string_view key) {
        auto values = in.texts(key);
        return values && check && !check(in, key, *values) ? std::nullopt : values;
    };
    return form_of(member, read, list_of, "texts", TomlValue::Kind::array);
}

template <class Owner, class T>
Form<Owner> choice(T Owner::*member, const Names<T>& names) {
    const auto read = [=](Section& in, std::string_view key) {
        const auto chosen = in.choice(key, names_of(names));
        return chosen ? std::optional(names[*chosen].second) : std::nullopt;
    };
    const auto write = [=](const T& value) { return quoted(name_of(names, value)); };
    return form_of(member, read, write, fmt::format("{}", fmt::join(names_of(names), ", ")));
}

// A value that is written as a text. `parse` gives std::nullopt for a text that is none.
template <class Owner, class T, class Parse, class Write>
Form<Owner> parsed(T Owner::*member, Parse parse, Write write, std::string allowed,
                   std::string range) {
    const auto read = [=](Section& in, std::string_view key) -> std::optional<T> {
        const TomlValue* found = in.find(key);
        if (found == nullptr) return std::nullopt;
        const bool is_text = found->kind == TomlValue::Kind::text;
        const std::optional<T> value = is_text ? parse(found->text) : std::nullopt;
        return value ? value : in.refuse(key, *found, allowed);
    };
    const auto shown = [=](const T& value) { return quoted(write(value)); };
    return form_of(member, read, shown, std::move(range));
}

// Neither shown nor repeated in an error, also when it is no good: it was meant to be a secret.
inline constexpr std::size_t secret_bytes = 1000;

template <class Owner>
Form<Owner> secret(std::string Owner::*member) {
    Form<Owner> form{.range = "text", .secrecy = Secrecy::whole};
    form.read = [=](Section& section, std::string_view key, Owner& out) {
        const TomlValue* found = section.find(key);
        if (found == nullptr) return;
        const bool is_text = found->kind == TomlValue::Kind::text && !found->text.empty();
        if (is_text && found->text.size() <= secret_bytes) {
            out.*member = found->text;
        } else {
            section.problem(key, fmt::format("must be a text of 1 to {} bytes", secret_bytes));
        }
    };
    form.show = [=](Listing& out, const SettingKey& setting, const Owner& owner) {
        out.add_secret(setting, owner.*member);
    };
    return form;
}

// Reads the rows from one table; it may have other keys, so it is left open.
template <class Owner>
void read_rows(Section& section, const Rows<Owner>& rows, Owner& out) {
    for (const Row<Owner>& row : rows) {
        if (!row.needed.empty()) section.require(row.key, row.needed);
        row.form.read(section, row.key, out);
    }
}

// A table that has these keys and no others.
template <class Owner>
Owner read_table(Section& table, const Rows<Owner>& rows) {
    Owner out{};
    read_rows(table, rows, out);
    table.close();
    return out;
}

template <class Owner>
void show_rows(Listing& out, const std::string& path, const Rows<Owner>& rows, const Owner& owner) {
    for (const Row<Owner>& row : rows) {
        const std::string other = row.other_key.empty() ? "" : path + row.other_key;
        if (row.form.show) row.form.show(out, {path + row.key, other}, owner);
    }
}

// Tables in one line each: "[{name = "a"}, {name = "b"}]". Members with their default values are
// left out.
template <class T>
std::string tables_text(const Rows<T>& rows, const std::vector<T>& owners) {
    const Origins none;
    Listing usual(none);
    show_rows(usual, "", rows, T{});
    const std::vector<Setting> defaults = usual.take();
    std::vector<std::string> tables;
    for (const T& owner : owners) {
        Listing shown(none);
        show_rows(shown, "", rows, owner);
        std::vector<std::string> members;
        for (std::size_t i = 0; const auto& [key, value, origin] : shown.take()) {
            if (value != defaults[i++].value) members.push_back(fmt::format("{} = {}", key, value));
        }
        tables.push_back(fmt::format("{{{}}}", fmt::join(members, ", ")));
    }
    return fmt::format("[{}]", fmt::join(tables, ", "));
}

}  // namespace sluice
