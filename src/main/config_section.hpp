#pragma once

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "application/make_job.hpp"
#include "interfaces/worker/url_text.hpp"
#include "main/config.hpp"
#include "main/config_values.hpp"

#define TOML_EXCEPTIONS 0
// The library asserts what it then reports as an error of the file.
#define TOML_ASSERT(expression) static_cast<void>(0)
#define TOML_ENABLE_FORMATTERS 0
#include <toml++/toml.h>

// Tables of a configuration file. Each is read as a Section, which notes every key that is asked
// for; what is left when the section closes is unknown. Problems are collected, so that one run
// shows all of them.
namespace sluice {

inline constexpr const char* duration_form = "a duration such as \"30s\", \"5m\" or \"1h30m\"";
// What stands in the file, for people.
std::string found(const toml::node& node);

// What is noted while a file is read: where each value stands, and what is wrong.
class FileNotes {
  public:
    FileNotes(std::string_view file, Origins& origins) : file_(file), origins_(origins) {}

    void problem(const toml::source_region& where, std::string_view what) {
        problems_.emplace(where.begin.line, fmt::format("{}: {}", place(where), what));
    }
    void origin(const std::string& setting, const toml::source_region& where) {
        origins_[setting] = place(where);
    }
    void append_problems_to(std::vector<std::string>& out) const {
        for (const auto& problem : problems_) out.push_back(problem.second);
    }

  private:
    std::string place(const toml::source_region& where) const {
        return fmt::format("{}:{}", file_, where.begin.line);
    }

    std::string file_;
    Origins& origins_;
    std::multimap<std::uint32_t, std::string> problems_;  // by line
};

// One table of the file; no table at all reads as an empty one.
class Section {
  public:
    Section(const toml::table* table, std::string path, FileNotes& notes)
        : table_(table), path_(std::move(path)), notes_(notes) {}

    // The node of this key, or nullptr. From now on the key is a known one.
    const toml::node* find(std::string_view key) {
        if (!is_known(key)) known_.emplace_back(key);
        const toml::node* node = table_ == nullptr ? nullptr : table_->get(key);
        if (node != nullptr) notes_.origin(name(key), node->source());
        return node;
    }

    std::string name(std::string_view key) const {
        return path_.empty() ? std::string(key) : fmt::format("{}.{}", path_, key);
    }

    void refuse(std::string_view key, const toml::node& node, std::string_view allowed) {
        notes_.problem(node.source(), fmt::format("{}: must be {}, not {}", name(key), allowed,
                                                  found_safely(key, node)));
    }

    void problem(std::string_view key, const toml::node& node, std::string_view what) {
        notes_.problem(node.source(), fmt::format("{}: {}", name(key), what));
    }

    Section section(std::string_view key) {
        const toml::node* node = find(key);
        if (node != nullptr && !node->is_table()) refuse(key, *node, "a table");
        return {node == nullptr ? nullptr : node->as_table(), name(key), notes_};
    }

    // The tables of an array, each as a section: "orders[0]", "orders[1]", …
    std::vector<Section> sections(std::string_view key) {
        std::vector<Section> all;
        const toml::node* node = find(key);
        if (node == nullptr) return all;
        const toml::array* array = node->as_array();
        if (array == nullptr) {
            refuse(key, *node, "an array of tables");
            return all;
        }
        for (std::size_t i = 0; i < array->size(); ++i) {
            const toml::node& element = *array->get(i);
            if (!element.is_table()) {
                refuse(key, element, "an array of tables");
                continue;
            }
            all.emplace_back(element.as_table(), fmt::format("{}[{}]", name(key), i), notes_);
        }
        return all;
    }

    void text(std::string_view key, std::string& out, std::size_t max = limits::name_bytes) {
        const toml::node* node = find(key);
        if (node == nullptr) return;
        const auto* value = node->as_string();
        if (value == nullptr || value->get().empty() || value->get().size() > max) {
            return refuse(key, *node, fmt::format("a text of 1 to {} bytes", max));
        }
        out = value->get();
    }

    void flag(std::string_view key, bool& out) {
        const toml::node* node = find(key);
        if (node == nullptr) return;
        const auto* value = node->as_boolean();
        if (value == nullptr) return refuse(key, *node, "true or false");
        out = value->get();
    }

    template <class T>
    void integer(std::string_view key, T& out, std::int64_t low, std::int64_t high) {
        const toml::node* node = find(key);
        if (node == nullptr) return;
        const auto* value = node->as_integer();
        if (value == nullptr || value->get() < low || value->get() > high) {
            return refuse(key, *node, fmt::format("an integer between {} and {}", low, high));
        }
        out = static_cast<T>(value->get());
    }

    // Answers whether the key is there and names one of them.
    template <class T>
    bool choice(std::string_view key, T& out, const Names<T>& names) {
        const toml::node* node = find(key);
        if (node == nullptr) return false;
        const auto* value = node->as_string();
        const auto chosen = value == nullptr ? std::nullopt : find_name(names, value->get());
        if (!chosen) {
            refuse(key, *node, one_of(names));
            return false;
        }
        out = *chosen;
        return true;
    }

    // The duration in `node`, which is that of `key` or inside of it.
    std::optional<Duration> duration_in(std::string_view key, const toml::node& node, Duration low,
                                        Duration high) {
        const auto* text = node.as_string();
        const auto value = text == nullptr ? std::nullopt : parse_duration(text->get());
        if (!value) {
            refuse(key, node, duration_form);
        } else if (*value < low || *value > high) {
            refuse(key, node,
                   fmt::format("between {} and {}", duration_text(low), duration_text(high)));
        } else {
            return value;
        }
        return std::nullopt;
    }

    template <class T>
    void duration(std::string_view key, T& out, Duration low, Duration high) {
        const toml::node* node = find(key);
        if (node == nullptr) return;
        if (const auto value = duration_in(key, *node, low, high)) {
            out = std::chrono::duration_cast<T>(*value);
        }
    }

    void texts(std::string_view key, std::vector<std::string>& out) {
        const toml::node* node = find(key);
        if (node == nullptr) return;
        const toml::array* array = node->as_array();
        if (array == nullptr) return refuse(key, *node, "an array of texts");
        out.clear();
        for (const toml::node& element : *array) {
            const auto* value = element.as_string();
            if (value == nullptr) return refuse(key, element, "an array of texts");
            out.push_back(value->get());
        }
    }

    // A table of texts.
    void text_pairs(std::string_view key, std::vector<std::pair<std::string, std::string>>& out) {
        const toml::node* node = find(key);
        if (node == nullptr) return;
        const toml::table* table = node->as_table();
        if (table == nullptr) return refuse(key, *node, "a table of texts");
        out.clear();
        for (const auto& [name, element] : *table) {
            const auto* value = element.as_string();
            if (value == nullptr) return refuse(key, element, "a table of texts");
            out.emplace_back(name.str(), value->get());
        }
    }

    bool has(std::string_view key) { return find(key) != nullptr; }

    // Reports that a key is absent that must be there.
    void require(std::string_view key, std::string_view why) {
        if (table_ == nullptr || has(key)) return;
        notes_.problem(table_->source(), fmt::format("{}: is missing: {}", name(key), why));
    }

    // The names of all members, e.g. of a table of named things.
    std::vector<std::string> members() const {
        std::vector<std::string> names;
        if (table_ == nullptr) return names;
        for (const auto& [key, node] : *table_) names.emplace_back(key.str());
        return names;
    }

    bool exists() const { return table_ != nullptr; }

    // At most one of the two keys may be there.
    void either(std::string_view one, std::string_view other) {
        const toml::node* second = find(other);
        if (find(one) == nullptr || second == nullptr) return;
        problem(other, *second, fmt::format("cannot be given together with {}", one));
    }

    // Reports every key that nobody asked for.
    void close() {
        if (table_ == nullptr) return;
        for (const auto& [key, node] : *table_) {
            if (is_known(key.str())) continue;
            notes_.problem(key.source(), fmt::format("unknown key \"{}\"; {}", name(key.str()),
                                                     suggestion(key.str(), known_)));
        }
    }

  private:
    // An address is shown without the user, the password and the query that it may have.
    static std::string found_safely(std::string_view key, const toml::node& node) {
        const auto* text = node.as_string();
        const bool is_address =
            text != nullptr && (key == "url" || text->get().find("://") != std::string::npos);
        return is_address ? '"' + worker::shown_url(text->get()) + '"' : found(node);
    }

    bool is_known(std::string_view key) const {
        return std::find(known_.begin(), known_.end(), key) != known_.end();
    }

    const toml::table* table_;
    std::string path_;
    FileNotes& notes_;
    std::vector<std::string> known_;
};

}  // namespace sluice
