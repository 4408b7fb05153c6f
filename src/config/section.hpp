#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "application/toolkit/make_job.hpp"
#include "config/config.hpp"
#include "config/toml_file.hpp"

// Tables of a configuration file. Each is read as a Section, which notes every key that is asked
// for; a key that is left when the section closes is unknown. Problems are collected, so that one
// run shows all of them.
namespace sluice {

inline constexpr std::size_t path_bytes = 4096;

// The notes of reading values: the location of each value, and the problems.
class Notes {
  public:
    // Of a file: locations are "sluice.toml:3", and problems name the setting.
    Notes(std::string_view file, Origins& origins) : source_(file), origins_(&origins) {}

    // Of one value that is not in a file: `source` is the variable or the flag that has it.
    explicit Notes(std::string_view source) : source_(source) {}

    // `setting` may be empty, when the problem is not one of a single setting.
    void problem(std::uint32_t line, std::string_view setting, std::string_view what);
    void origin(const std::string& setting, std::uint32_t line);

    std::vector<std::string> problems() const;  // in the order of the file

  private:
    std::string location(std::uint32_t line) const;

    std::string source_;
    Origins* origins_ = nullptr;
    std::multimap<std::uint32_t, std::string> problems_;  // by line
};

// One table of the file; no table at all reads as an empty one. A reading function gives nothing
// when the key is not there, or when its value is not allowed, which it notes as a problem.
class Section {
  public:
    using Texts = std::vector<std::string>;
    using TextPairs = std::vector<std::pair<std::string, std::string>>;

    Section(const TomlValue* table, std::string path, Notes& notes)
        : table_(table), path_(std::move(path)), notes_(notes) {}

    bool exists() const { return table_ != nullptr; }

    // The value of this key, or nullptr. From now on the key is a known one.
    const TomlValue* find(std::string_view key);
    bool has(std::string_view key) { return find(key) != nullptr; }

    // The names of all members, e.g. of a table of named things.
    Texts members() const;

    Section section(std::string_view key);
    std::vector<Section> sections(std::string_view key);  // "orders[0]", "orders[1]", …

    std::optional<bool> flag(std::string_view key);
    std::optional<std::string> text(std::string_view key, std::size_t max);
    std::optional<Texts> texts(std::string_view key);
    std::optional<TextPairs> text_pairs(std::string_view key);  // the members of a table
    std::optional<std::int64_t> integer(std::string_view key, std::int64_t low, std::int64_t high);
    std::optional<Duration> duration(std::string_view key, Duration low, Duration high);
    std::optional<std::size_t> choice(std::string_view key, const Texts& names);  // its index

    // The duration in `value`, which is that of `key` or inside of it.
    std::optional<Duration> duration_in(std::string_view key, const TomlValue& value, Duration low,
                                        Duration high);

    // Reports that the value of the key, or one inside of it, must be something else. An address is
    // repeated without the parts that may be secret.
    std::nullopt_t refuse(std::string_view key, const TomlValue& value, std::string_view allowed);

    // Reports a problem at the line of `value`, or else of the key, or else of the table.
    std::nullopt_t problem(std::string_view key, const TomlValue& value, std::string_view what);
    std::nullopt_t problem(std::string_view key, std::string_view what);

    // Reports that a key is there that must not be, that a key is absent that must be there, that
    // two keys exclude each other, and, at the end, every key that was not asked for.
    void forbid(std::string_view key, std::string_view why);
    void require(std::string_view key, std::string_view why);
    void either(std::string_view one, std::string_view other);
    void close();

  private:
    std::string name(std::string_view key) const;  // with the path of this table
    bool is_known(std::string_view key) const;

    const TomlValue* table_;
    std::string path_;
    Notes& notes_;
    Texts known_;
};

// The tables of a file by their path, each opened once.
class Sections {
  public:
    Sections(const TomlValue& file, Notes& notes);

    Section& at(const std::string& path);  // "limits", "auth.jwt"; "" is the file
    void close();                          // all of them

  private:
    std::map<std::string, Section> open_;
};

}  // namespace sluice
