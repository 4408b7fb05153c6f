#pragma once

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <set>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

#include "tidy_rooms.hpp"
#include "tidy_sources.hpp"

// The rules about the source tree that a program can check. tidy_test.cpp plants a violation of
// each, so that a rule which finds nothing any more is noticed.
namespace sluice::tidy {

namespace fs = std::filesystem;

inline constexpr std::size_t lines_max = 400;
inline constexpr std::size_t columns_max = 100;

inline constexpr std::size_t markdown_columns_max = 120;

// Files that may be longer, each with its reason.
inline const std::map<std::string, std::string> long_files{};

// Whether `text` has `word`, not as the end of a longer word.
inline bool has_word(const std::string& text, const std::string& word) {
    for (std::size_t at = text.find(word); at != std::string::npos; at = text.find(word, at + 1)) {
        if (at == 0 || !is_word(word[0]) || !is_word(text[at - 1])) return true;
    }
    return false;
}

// Which layers a layer may include. tests/rooms.txt has the finer arrows, between rooms.
inline void check_layers(Findings& out, const SourceFile& file) {
    static const std::set<std::string> allowed_to_tests{"infrastructure", "tests", "support"};
    static const std::map<std::string, std::set<std::string>> allowed{
        {"domain", {"domain"}},
        {"application", {"application", "json", "domain"}},
        {"infrastructure", {"infrastructure", "application", "json", "domain"}},
        {"json", {"json", "domain"}},
        {"client", {"client", "sluice", "json", "domain"}},
        {"interfaces", {"interfaces", "client", "sluice", "json", "application", "domain"}},
        {"config",
         {"config", "interfaces", "infrastructure", "client", "sluice", "json", "application",
          "domain"}},
    };
    if (!file.is_in("src/")) return;
    const std::string layer = file.path.substr(4, file.path.find('/', 4) - 4);
    const auto may = allowed.find(layer);
    for (std::size_t i = 0; i < file.lines.size(); ++i) {
        const std::string name = included(file.lines[i]);
        if (name.starts_with("\"../")) {
            report(out, file, i + 1, "include from src/, not by ..");
            continue;
        }
        const std::string target = name.substr(0, name.find('/'));
        if (may == allowed.end() || !target.starts_with('"') || target == name) continue;
        const std::string wanted = target.substr(1);
        if (may->second.contains(wanted)) continue;
        if (file.is_test() && allowed_to_tests.contains(wanted)) continue;
        report(out, file, i + 1, layer + " must not include " + name.substr(1));
    }
}

// Something that may occur in some places under src/ only.
struct Fence {
    std::string why;
    std::vector<std::string> words;
    std::string Line::*where;
    bool (*allows)(const SourceFile&);
};

inline bool may_read_clock(const SourceFile& file) {
    const bool is_clock = file.path.find("clock") != std::string::npos;
    return (file.is_in("src/infrastructure/") && is_clock) || file.is_in("src/main/") ||
           file.is_in("src/operator/") || file.is_in("src/interfaces/http/server/") ||
           file.is_in("src/interfaces/worker/") || file.is_in("src/interfaces/cli/") ||
           file.is_in("src/client/");
}

// Statements on PostgreSQL get cluster time as a parameter (docs/adr/0016 has the table): the
// server's clock is read for that time itself, shown to people, or compared with what the server or
// nodes of an earlier version have written.
inline bool may_ask_for_server_time(const SourceFile& file) {
    static const std::set<std::string> allowed{"clock_row.cpp", "former_schema.cpp",
                                               "housekeeper.cpp", "inspection.cpp",
                                               "migrations.cpp"};
    const std::string folder = "src/infrastructure/postgres/";
    return !file.is_in(folder) || file.is_test() ||
           allowed.contains(file.path.substr(file.path.rfind('/') + 1));
}

inline const std::vector<Fence> fences{
    {"coroutines live in interfaces/http",
     {"co_await", "co_return", "co_yield", "co_spawn"},
     &Line::code,
     [](const SourceFile& file) { return file.is_in("src/interfaces/http/"); }},
    {"time enters as an argument",
     {"system_clock::now", "steady_clock::now", "high_resolution_clock::now", "clock_gettime",
      "time(nullptr)", "time(NULL)", "time(0)", "gettimeofday"},
     &Line::code,
     may_read_clock},
    {"statements get cluster time as a parameter",
     {"now()", "clock_timestamp", "current_timestamp", "CURRENT_TIMESTAMP", "statement_timestamp",
      "transaction_timestamp"},
     &Line::literals,
     may_ask_for_server_time},
    {"SQL lives in the stores",
     {"SELECT ", "INSERT INTO", "UPDATE ", "DELETE FROM", "CREATE TABLE"},
     &Line::literals,
     [](const SourceFile& file) {
         return file.is_in("src/infrastructure/sqlite/") ||
                file.is_in("src/infrastructure/postgres/");
     }},
    {"domain and application neither wait, roll dice nor look at the environment",
     {"std::thread", "std::jthread", "sleep_for", "sleep_until", "rand(", "random_device",
      "getenv"},
     &Line::code,
     [](const SourceFile& file) {
         return !file.is_in("src/domain/") && !file.is_in("src/application/");
     }},
};

inline void check_fences(Findings& out, const SourceFile& file) {
    if (!file.is_in("src/")) return;
    for (const Fence& fence : fences) {
        if (fence.allows(file)) continue;
        for (std::size_t i = 0; i < file.lines.size(); ++i) {
            for (const std::string& word : fence.words) {
                if (!has_word(file.lines[i].*fence.where, word)) continue;
                report(out, file, i + 1, fence.why + ": " + word);
            }
        }
    }
}

// Libraries, by how their headers begin, and the folders that own each.
inline const std::multimap<std::string, std::string> owners{
    {"boost/", "src/interfaces/http/"},
    {"asio", "src/interfaces/http/"},
    {"sqlite3.h", "src/infrastructure/sqlite/"},
    {"libpq-fe.h", "src/infrastructure/postgres/"},
    {"prometheus/", "src/infrastructure/"},
    {"toml++/", "src/config/"},
    {"curl/", "src/client/"},
    {"curl/", "src/infrastructure/jwt/"},
    {"cjose/", "src/infrastructure/jwt/"},
    {"CLI/", "src/interfaces/cli/framework/"},
};

// The folders that may include this header; empty: all may.
inline std::vector<std::string> owners_of(const std::string& header) {
    std::vector<std::string> folders;
    for (const auto& [beginning, folder] : owners) {
        if (header.starts_with(beginning)) folders.push_back(folder);
    }
    return folders;
}

inline void check_owners(Findings& out, const SourceFile& file) {
    if (!file.is_in("src/") || file.is_test()) return;
    for (std::size_t i = 0; i < file.lines.size(); ++i) {
        const std::string name = included(file.lines[i]);
        if (name.empty()) continue;
        const std::vector<std::string> folders = owners_of(name.substr(1));
        const auto is_home = [&](const std::string& folder) { return file.is_in(folder); };
        if (folders.empty() || std::any_of(folders.begin(), folders.end(), is_home)) continue;
        report(out, file, i + 1, "only " + folders.front() + " may include " + name.substr(1));
    }
}

inline std::size_t columns(const std::string& text) {
    return static_cast<std::size_t>(std::count_if(text.begin(), text.end(), [](char c) {
        return (static_cast<unsigned char>(c) & 0xC0) != 0x80;
    }));
}

// TODO(#12) or TODO #12: the issue says what is to be done.
inline bool has_open_todo(const std::string& comment) {
    const std::size_t at = comment.find("TODO");
    if (at == std::string::npos) return false;
    const std::size_t number = comment.find_first_not_of(" (", at + 4);
    if (number == std::string::npos || comment[number] != '#') return true;
    return number + 1 >= comment.size() || std::isdigit(comment[number + 1]) == 0;
}

inline void check_form(Findings& out, const SourceFile& file) {
    const std::size_t size = file.lines.size();
    if (size > lines_max && !long_files.contains(file.path)) {
        report(out, file, lines_max, "has " + std::to_string(size) + " lines, more than 400");
    }
    bool once = false;
    for (std::size_t i = 0; i < size; ++i) {
        const Line& line = file.lines[i];
        once = once || line.code.starts_with("#pragma once");
        if (columns(line.text) > columns_max) report(out, file, i + 1, "is over 100 columns");
        if (line.text.find('\t') != std::string::npos) report(out, file, i + 1, "has a tab");
        if (has_open_todo(line.comments))
            report(out, file, i + 1, "TODO needs an issue: TODO(#12)");
    }
    if (file.is_header() && !once) report(out, file, 1, "has no #pragma once");
}

inline std::string text_of(const fs::path& path) {
    std::ifstream stream(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(stream), {}};
}

// Code blocks are as long as they must be, and tables and links cannot be broken.
inline void check_markdown(Findings& out, const std::string& path, const std::string& text) {
    bool is_code = false;
    std::size_t number = 0;
    std::istringstream lines(text);
    for (std::string line; std::getline(lines, line);) {
        ++number;
        if (line.starts_with("```")) is_code = !is_code;
        if (is_code || columns(line) <= markdown_columns_max) continue;
        if (line.starts_with('|') || line.starts_with("    ")) continue;
        if (line.find("](") != std::string::npos && line.find(' ') == std::string::npos) continue;
        out.push_back(path + ":" + std::to_string(number) + ": is over 120 columns");
    }
}

inline Findings check_tree(const fs::path& root) {
    Findings out;
    std::vector<SourceFile> files;
    for (const char* folder : {"src", "tests", "bench"}) {
        if (!fs::is_directory(root / folder)) continue;
        for (const fs::directory_entry& entry : fs::recursive_directory_iterator(root / folder)) {
            const fs::path& path = entry.path();
            if (path.extension() != ".cpp" && path.extension() != ".hpp") continue;
            const SourceFile& file = files.emplace_back(SourceFile{
                fs::relative(path, root).generic_string(), Splitter(text_of(path)).split()});
            check_layers(out, file);
            check_fences(out, file);
            check_owners(out, file);
            check_form(out, file);
        }
    }
    if (fs::exists(root / rooms_file)) check_rooms(out, text_of(root / rooms_file), files);
    for (const fs::path& path : markdown_files(root)) {
        check_markdown(out, fs::relative(path, root).generic_string(), text_of(path));
    }
    std::sort(out.begin(), out.end());
    return out;
}

}  // namespace sluice::tidy
