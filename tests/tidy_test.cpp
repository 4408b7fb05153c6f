// The rules about the source tree that a program can check. Each has a test that plants a violation
// in a folder of its own, so that a rule which has gone blind is noticed.
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "tidy_sources.hpp"

namespace {

using namespace sluice::tidy;

namespace fs = std::filesystem;

constexpr std::size_t lines_max = 400;
constexpr std::size_t columns_max = 100;

// Files that may be longer, each with its reason.
const std::map<std::string, std::string> long_files{};

using Findings = std::vector<std::string>;  // each as editors read it: path:line: what

void report(Findings& out, const SourceFile& file, std::size_t line, const std::string& what) {
    out.push_back(file.path + ":" + std::to_string(line) + ": " + what);
}

// Whether `text` has `word`, not as the end of a longer word.
bool has_word(const std::string& text, const std::string& word) {
    for (std::size_t at = text.find(word); at != std::string::npos; at = text.find(word, at + 1)) {
        if (at == 0 || !is_word(word[0]) || !is_word(text[at - 1])) return true;
    }
    return false;
}

// What an #include names, with its bracket or quote in front, or nothing.
std::string included(const Line& line) {
    if (!line.code.starts_with("#include")) return {};
    const std::size_t open = line.text.find_first_of("<\"");
    if (open == std::string::npos) return {};
    return line.text.substr(open, line.text.find_first_of(">\"", open + 1) - open);
}

void check_arrows(Findings& out, const SourceFile& file) {
    static const std::set<std::string> allowed_to_tests{"infrastructure", "tests", "support"};
    static const std::map<std::string, std::set<std::string>> allowed{
        {"domain", {"domain"}},
        {"application", {"application", "json", "domain"}},
        {"infrastructure", {"infrastructure", "application", "json", "domain"}},
        {"json", {"json", "domain"}},
        {"client", {"client", "sluice", "json", "domain"}},
        {"interfaces", {"interfaces", "client", "sluice", "json", "application", "domain"}},
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

// The core of the application is what lies in no folder of its own. It knows no contract by name
// but where they are listed, and where the operator's rules for one are kept.
void check_core(Findings& out, const SourceFile& file) {
    const std::string core = "src/application/";
    const bool is_core = file.is_in(core) && file.path.find('/', core.size()) == std::string::npos;
    if (!is_core || file.is_test() || file.path == core + "contracts.cpp" ||
        file.path == core + "rules.hpp") {
        return;
    }
    for (std::size_t i = 0; i < file.lines.size(); ++i) {
        const std::string name = included(file.lines[i]);
        for (const char* contract : {"apps", "deploy"}) {
            if (!name.starts_with(std::string("\"application/") + contract + "/")) continue;
            report(out, file, i + 1, "the core knows no contract: " + name.substr(1));
        }
    }
}

// Something that may occur in some places under src/ only.
struct Fence {
    std::string why;
    std::vector<std::string> words;
    std::string Line::*where;
    bool (*allows)(const SourceFile&);
};

bool may_read_clock(const SourceFile& file) {
    const bool is_clock = file.path.find("clock") != std::string::npos;
    return (file.is_in("src/infrastructure/") && is_clock) || file.is_in("src/main/") ||
           file.is_in("src/interfaces/http/server") ||
           file.is_in("src/interfaces/http/connection") || file.is_in("src/interfaces/worker/") ||
           file.is_in("src/interfaces/cli/") || file.is_in("src/client/");
}

// Statements on PostgreSQL get cluster time as a parameter (docs/adr/0016 has the table): the
// server's clock is read for that time itself, shown to people, or compared with what the server or
// nodes of an earlier version have written.
bool may_ask_for_server_time(const SourceFile& file) {
    static const std::set<std::string> allowed{"clock_row.cpp", "former_schema.cpp",
                                               "housekeeper.cpp", "inspection.cpp",
                                               "migrations.cpp"};
    const std::string folder = "src/infrastructure/postgres/";
    return !file.is_in(folder) || file.is_test() ||
           allowed.contains(file.path.substr(folder.size()));
}

const std::vector<Fence> fences{
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

void check_fences(Findings& out, const SourceFile& file) {
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
const std::multimap<std::string, std::string> owners{
    {"boost/", "src/interfaces/http/"},
    {"asio", "src/interfaces/http/"},
    {"sqlite3.h", "src/infrastructure/sqlite/"},
    {"libpq-fe.h", "src/infrastructure/postgres/"},
    {"prometheus/", "src/infrastructure/"},
    {"toml++/", "src/main/"},
    {"curl/", "src/client/"},
    {"curl/", "src/infrastructure/jwt/"},
    {"cjose/", "src/infrastructure/jwt/"},
};

// The folders that may include this header; empty: all may.
std::vector<std::string> owners_of(const std::string& header) {
    std::vector<std::string> folders;
    for (const auto& [beginning, folder] : owners) {
        if (header.starts_with(beginning)) folders.push_back(folder);
    }
    return folders;
}

void check_owners(Findings& out, const SourceFile& file) {
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

std::size_t columns(const std::string& text) {
    return static_cast<std::size_t>(std::count_if(text.begin(), text.end(), [](char c) {
        return (static_cast<unsigned char>(c) & 0xC0) != 0x80;
    }));
}

// TODO(#12) or TODO #12: someone can look up what is meant.
bool has_open_todo(const std::string& comment) {
    const std::size_t at = comment.find("TODO");
    if (at == std::string::npos) return false;
    const std::size_t number = comment.find_first_not_of(" (", at + 4);
    if (number == std::string::npos || comment[number] != '#') return true;
    return number + 1 >= comment.size() || std::isdigit(comment[number + 1]) == 0;
}

void check_form(Findings& out, const SourceFile& file) {
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

Findings check_tree(const fs::path& root) {
    Findings out;
    for (const char* folder : {"src", "tests", "bench"}) {
        if (!fs::is_directory(root / folder)) continue;
        for (const fs::directory_entry& entry : fs::recursive_directory_iterator(root / folder)) {
            const fs::path& path = entry.path();
            if (path.extension() != ".cpp" && path.extension() != ".hpp") continue;
            std::ifstream stream(path, std::ios::binary);
            std::string text{std::istreambuf_iterator<char>(stream), {}};
            const SourceFile file{fs::relative(path, root).generic_string(),
                                  Splitter(std::move(text)).split()};
            check_arrows(out, file);
            check_core(out, file);
            check_fences(out, file);
            check_owners(out, file);
            check_form(out, file);
        }
    }
    std::sort(out.begin(), out.end());
    return out;
}

TEST(Tidy, TheSourceTreeKeepsTheRules) {
    ASSERT_TRUE(fs::is_directory(fs::path(SLUICE_SOURCE_DIR) / "src" / "domain"));
    std::string all;
    for (const std::string& finding : check_tree(SLUICE_SOURCE_DIR)) all += "\n" + finding;
    EXPECT_TRUE(all.empty()) << all;
}

// A tree with a single file in it.
Findings findings_in(const std::string& path, const std::string& text) {
    const fs::path root = fs::temp_directory_path() / ("sluice-tidy-" + std::to_string(getpid()));
    fs::remove_all(root);
    fs::create_directories((root / path).parent_path());
    std::ofstream(root / path, std::ios::binary) << text;
    Findings out = check_tree(root);
    fs::remove_all(root);
    return out;
}

struct Plant {
    std::string path;
    std::string text;
    std::string finding;  // part of it; empty: none
};

void expect_all(const std::vector<Plant>& plants) {
    for (const Plant& plant : plants) {
        const Findings found = findings_in(plant.path, plant.text);
        if (plant.finding.empty()) {
            EXPECT_TRUE(found.empty()) << plant.path << ": " << plant.text << found.front();
            continue;
        }
        ASSERT_EQ(found.size(), 1u) << plant.path << ": " << plant.text;
        EXPECT_NE(found[0].find(plant.finding), std::string::npos) << found[0];
    }
}

TEST(Tidy, NoticesIncludesThatPointUp) {
    expect_all({
        {"src/domain/a.cpp", "\n#include \"application/x.hpp\"\n", "a.cpp:2: domain must not"},
        {"src/application/a.cpp", "#include \"infrastructure/x.hpp\"\n", "application must not"},
        {"src/application/a.cpp", "#include \"interfaces/http/x.hpp\"\n", "application must not"},
        {"src/infrastructure/b/a.cpp", "#include \"interfaces/x.hpp\"\n",
         "infrastructure must not"},
        {"src/interfaces/http/a.cpp", "#include \"infrastructure/x.hpp\"\n", "interfaces must not"},
        {"src/interfaces/http/a.cpp", "#include \"main/x.hpp\"\n", "interfaces must not"},
        {"src/client/a.cpp", "#include \"application/x.hpp\"\n", "client must not"},
        {"src/domain/a.cpp", "#include \"../main/x.hpp\"\n", "not by .."},
        {"src/domain/a_test.cpp", "#include \"interfaces/x.hpp\"\n", "domain must not"},
        {"src/application/a.cpp", "#include \"tests/support/x.hpp\"\n", "application must not"},
        {"src/application/a_test.cpp", "#include \"tests/support/x.hpp\"\n", ""},
        {"src/application/a_test.cpp", "#include \"infrastructure/memory/x.hpp\"\n", ""},
        {"src/application/a.cpp", "#include \"domain/x.hpp\"\n// #include \"main/x.hpp\"\n", ""},
        {"src/main/a.cpp", "#include \"infrastructure/x.hpp\"\n", ""},
    });
}

TEST(Tidy, NoticesACoreThatKnowsAContract) {
    expect_all({
        {"src/application/a.cpp", "#include \"application/apps/x.hpp\"\n", "knows no contract"},
        {"src/application/a.hpp", "#pragma once\n#include \"application/deploy/x.hpp\"\n",
         "knows no contract"},
        {"src/application/contracts.cpp", "#include \"application/apps/x.hpp\"\n", ""},
        {"src/application/apps/a.cpp", "#include \"application/apps/x.hpp\"\n", ""},
        {"src/application/a_test.cpp", "#include \"application/apps/x.hpp\"\n", ""},
    });
}

TEST(Tidy, NoticesWhatIsOutsideItsFence) {
    expect_all({
        {"src/application/a.cpp", "void f() { co_await g(); }\n", "coroutines"},
        {"src/main/a.cpp", "co_return;\n", "coroutines"},
        {"src/infrastructure/a.cpp", "asio::co_spawn(x);\n", "coroutines"},
        {"src/interfaces/http/a.cpp", "co_await x;\n", ""},
        {"src/domain/a.cpp", "auto t = std::chrono::system_clock::now();\n", "time enters"},
        {"src/application/a.cpp", "steady_clock::now();\n", "time enters"},
        {"src/interfaces/http/jobs.cpp", "clock_gettime(0, &t);\n", "time enters"},
        {"src/infrastructure/a.cpp", "auto t = ::time(nullptr);\n", "time enters"},
        {"src/infrastructure/a.cpp", "gettimeofday(&t, 0);\n", "time enters"},
        {"src/infrastructure/system_clock.cpp", "system_clock::now();\n", ""},
        {"src/interfaces/http/server.cpp", "steady_clock::now();\n", ""},
        {"src/domain/a.cpp", "at_time(nullptr);  // not time(nullptr)\n", ""},
        {"src/infrastructure/postgres/a.cpp", "run(\"until < now()\");\n", "cluster time"},
        {"src/infrastructure/postgres/a.cpp", "run(R\"(\n clock_timestamp())\");\n", "a.cpp:2: "},
        {"src/infrastructure/postgres/clock_row.cpp", "run(\"now()\");\n", ""},
        {"src/infrastructure/postgres/a.cpp", "time.now(); run(\"server_now()\"); // now()\n", ""},
        {"src/infrastructure/postgres/a_test.cpp", "run(\"until < now()\");\n", ""},
        {"src/application/a.cpp", "const char* q = \"SELECT 1\";\n", "SQL lives"},
        {"src/main/a.cpp", "auto q = R\"(\n  INSERT INTO t)\";\n", "a.cpp:2: SQL lives"},
        {"src/infrastructure/a.cpp", "run(\"UPDATE t SET a = 1\");\n", "SQL lives"},
        {"src/infrastructure/a.cpp", "run(\"DELETE FROM t\");\n", "SQL lives"},
        {"src/infrastructure/a.cpp", "run(\"CREATE TABLE t(a)\");\n", "SQL lives"},
        {"src/infrastructure/sqlite/a.cpp", "run(\"SELECT 1\");\n", ""},
        {"src/domain/a.cpp", "std::thread t;\n", "neither wait"},
        {"src/application/a.cpp", "std::this_thread::sleep_for(1s);\n", "neither wait"},
        {"src/application/a.cpp", "int i = rand();\n", "neither wait"},
        {"src/domain/a.cpp", "std::random_device seed;\n", "neither wait"},
        {"src/domain/a.cpp", "std::getenv(\"A\");\n", "neither wait"},
        {"src/domain/a.cpp", "operand(); f(\"getenv\"); g('\"'); /* rand() */\n", ""},
    });
}

TEST(Tidy, NoticesLibrariesOutsideTheirFolder) {
    expect_all({
        {"src/domain/a.cpp", "#include <boost/asio.hpp>\n", "only src/interfaces/http/"},
        {"src/main/a.cpp", "#include <boost/json.hpp>\n", "only src/interfaces/http/"},
        {"src/infrastructure/a.cpp", "#include <asio.hpp>\n", "only src/interfaces/http/"},
        {"src/infrastructure/a.cpp", "#include <sqlite3.h>\n", "only src/infrastructure/sqlite/"},
        {"src/infrastructure/a.cpp", "#include <libpq-fe.h>\n", "only src/infrastructure/post"},
        {"src/interfaces/http/a.cpp", "#include <prometheus/counter.h>\n", "only src/infra"},
        {"src/domain/a.cpp", "#include <toml++/toml.h>\n", "only src/main/"},
        {"src/interfaces/a.cpp", "#include <curl/curl.h>\n", "only src/client/"},
        {"src/main/a.cpp", "#include <cjose/jwk.h>\n", "only src/infrastructure/jwt/"},
        {"src/client/a.cpp", "#include <curl/curl.h>\n", ""},
        {"src/infrastructure/jwt/a.cpp", "#include <curl/curl.h>\n", ""},
        {"src/infrastructure/sqlite/a.cpp", "#include <sqlite3.h>\n", ""},
        {"src/infrastructure/postgres/a.cpp", "#include <libpq-fe.h>\n", ""},
        {"src/infrastructure/metrics.cpp", "#include <prometheus/counter.h>\n", ""},
    });
}

TEST(Tidy, NoticesBadForm) {
    const std::string full_file(400, '\n'), long_file(401, '\n');
    expect_all({
        {"src/domain/a.cpp", long_file, "401 lines"},
        {"src/domain/a.cpp", full_file, ""},
        {"tests/e2e/a.cpp", std::string(101, 'x') + "\n", "over 100 columns"},
        {"src/domain/a.cpp", "// " + std::string(97, 'x') + "\n", ""},
        {"src/domain/a.cpp", "\tint a;\n", "has a tab"},
        {"src/domain/a.cpp", "int a;  // TODO: more\n", "needs an issue"},
        {"src/domain/a.cpp", "/* TODO(ada) */\n", "needs an issue"},
        {"src/domain/a.cpp", "// TODO(#12): more\n", ""},
        {"src/domain/a.hpp", "int a();\n", "no #pragma once"},
        {"src/domain/a.hpp", "#pragma once\nint a();\n", ""},
    });
}

}  // namespace
