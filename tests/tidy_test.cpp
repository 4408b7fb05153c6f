// The rules about the source tree that a program can check. Each has a test that plants a violation
// in a folder of its own, so that a rule which finds nothing any more is noticed.
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <map>
#include <string>
#include <vector>

#include "tidy_rules.hpp"

namespace tidy_test {

using namespace sluice::tidy;

namespace fs = std::filesystem;

TEST(Tidy, TheSourceTreeKeepsTheRules) {
    ASSERT_TRUE(fs::is_directory(fs::path(SLUICE_SOURCE_DIR) / "src" / "domain"));
    std::string all;
    for (const std::string& finding : check_tree(SLUICE_SOURCE_DIR)) all += "\n" + finding;
    EXPECT_TRUE(all.empty()) << all;
}

// The findings in a tree that has only these files.
Findings findings_in(const std::map<std::string, std::string>& texts_by_path) {
    const fs::path root = fs::temp_directory_path() / ("sluice-tidy-" + std::to_string(getpid()));
    fs::remove_all(root);
    for (const auto& [path, text] : texts_by_path) {
        fs::create_directories((root / path).parent_path());
        std::ofstream(root / path, std::ios::binary) << text;
    }
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
        const Findings found = findings_in({{plant.path, plant.text}});
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
        {"src/interfaces/http/server/server.cpp", "steady_clock::now();\n", ""},
        {"src/domain/a.cpp", "at_time(nullptr);  // not time(nullptr)\n", ""},
        {"src/infrastructure/postgres/a.cpp", "run(\"until < now()\");\n", "cluster time"},
        {"src/infrastructure/postgres/a.cpp", "run(R\"(\n clock_timestamp())\");\n", "a.cpp:2: "},
        {"src/infrastructure/postgres/cluster/clock_row.cpp", "run(\"now()\");\n", ""},
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
        {"src/domain/a.cpp", "#include <toml++/toml.h>\n", "only src/config/"},
        {"src/interfaces/a.cpp", "#include <curl/curl.h>\n", "only src/client/"},
        {"src/main/a.cpp", "#include <cjose/jwk.h>\n", "only src/infrastructure/jwt/"},
        {"src/main/a.cpp", "#include <CLI/CLI.hpp>\n", "only src/interfaces/cli/framework/"},
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

TEST(Tidy, NoticesLongLinesOfMarkdown) {
    const std::string wide(121, 'x');
    expect_all({
        {"README.md", "ok\n" + wide + " y\n", "README.md:2: is over 120 columns"},
        {"docs/adr/0001.md", wide + " y\n", "over 120 columns"},
        {"docs/a.md", "```\n" + wide + " y\n```\n", ""},
        {"docs/a.md", "| " + wide + " |\n", ""},
        {"docs/a.md", std::string(120, 'x') + "\n", ""},
    });
}

const std::string few_rooms =
    "domain/jobs | rules of jobs |\n"
    "application/jobs | verbs | domain/jobs application/ports\n"
    "application/ports | what the verbs need | domain/jobs\n";

// Files that use each arrow of few_rooms.
std::map<std::string, std::string> tree_with(const std::string& path, const std::string& text,
                                             const std::string& rooms = few_rooms) {
    std::map<std::string, std::string> tree{
        {"tests/rooms.txt", rooms},
        {"src/domain/jobs/job.cpp", "int a;\n"},
        {"src/application/ports/store.cpp", "#include \"domain/jobs/job.hpp\"\n"},
        {"src/application/jobs/submit.cpp",
         "#include \"application/ports/store.hpp\"\n#include \"domain/jobs/job.hpp\"\n"},
    };
    if (!path.empty()) tree[path] = text;
    return tree;
}

std::string first_finding(const std::map<std::string, std::string>& tree) {
    const Findings found = findings_in(tree);
    return found.empty() ? "" : found.front();
}

TEST(Tidy, NoticesIncludesThatHaveNoArrow) {
    EXPECT_EQ(first_finding(tree_with("", "")), "");
    EXPECT_EQ(first_finding(tree_with("src/application/ports/a.cpp",
                                      "\n#include \"application/jobs/submit.hpp\"\n")),
              "src/application/ports/a.cpp:2: application/ports has no arrow to application/jobs "
              "in tests/rooms.txt");
    EXPECT_EQ(first_finding(tree_with("src/application/ports/a_test.cpp",
                                      "#include \"application/jobs/submit.hpp\"\n")),
              "");
}

TEST(Tidy, NoticesCyclesBetweenRooms) {
    const std::string cyclic =
        "domain/jobs | rules |\n"
        "application/jobs | verbs | application/ports domain/jobs\n"
        "application/ports | needs | domain/jobs application/jobs\n";
    const auto tree = tree_with("src/application/ports/a.cpp",
                                "#include \"application/jobs/submit.hpp\"\n", cyclic);

    EXPECT_EQ(first_finding(tree),
              "tests/rooms.txt: a cycle: application/jobs -> application/ports -> "
              "application/jobs");
}

TEST(Tidy, NoticesRoomsThatAreUnknownUnusedOrFull) {
    EXPECT_EQ(first_finding(tree_with("src/application/leases/a.cpp", "int a;\n")),
              "src/application/leases/a.cpp:1: is in no room of tests/rooms.txt");
    EXPECT_EQ(first_finding(tree_with("", "", few_rooms + "json | JSON |\n")),
              "tests/rooms.txt: no source is in json");
    EXPECT_EQ(
        first_finding({{"tests/rooms.txt", "domain/jobs | rules |\njson | JSON | domain/jobs\n"},
                       {"src/domain/jobs/job.cpp", "int a;\n"},
                       {"src/json/a.cpp", "int a;\n"}}),
        "tests/rooms.txt: nothing in json includes domain/jobs");
    auto full = tree_with("", "");
    for (int i = 0; i < 25; ++i) {
        full["src/domain/jobs/a" + std::to_string(i) + ".cpp"] = "int a;\n";
    }
    EXPECT_EQ(first_finding(full), "src/domain/jobs: has 26 sources, more than 25");
}

// The picture of the rooms in the documentation is drawn from the table that is checked here.
TEST(Tidy, TheArchitecturePageShowsTheRooms) {
    const fs::path root(SLUICE_SOURCE_DIR);
    const std::string page = text_of(root / "docs" / "architecture.md");
    const std::string wanted = "<!-- rooms: from tests/rooms.txt -->\n" +
                               rooms_in_markdown(text_of(root / rooms_file)) + "<!-- rooms end -->";

    EXPECT_NE(page.find(wanted), std::string::npos)
        << "docs/architecture.md should have, between the two comments:\n"
        << wanted;
}

}  // namespace tidy_test
