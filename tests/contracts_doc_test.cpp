// docs/contracts/*.md list the demands of each contract, and the test that proves each. Checked
// here: lists and tests agree.
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <regex>
#include <set>
#include <sstream>

namespace sluice {
namespace contracts_doc_test {

namespace fs = std::filesystem;

const fs::path root = SLUICE_SOURCE_DIR;

std::string text_of(const fs::path& file) {
    std::ifstream in(file);
    std::ostringstream text;
    text << in.rdbuf();
    return text.str();
}

// All names that `pattern` finds in the files with this ending below the folder: "Suite.Name".
std::set<std::string> names_in(const fs::path& folder, const std::string& ending,
                               const std::regex& pattern) {
    std::set<std::string> names;
    for (const auto& entry : fs::recursive_directory_iterator(folder)) {
        if (!entry.path().string().ends_with(ending)) continue;
        const std::string text = text_of(entry.path());
        for (std::sregex_iterator found(text.begin(), text.end(), pattern), end; found != end;
             ++found) {
            names.insert((*found)[1].str() + "." + (*found)[2].str());
        }
    }
    return names;
}

std::set<std::string> tests_in(const fs::path& folder) {
    static const std::regex declared(R"(\bTEST(?:_F|_P)?\(\s*(\w+),\s*(\w+)\))");
    return names_in(folder, "_test.cpp", declared);
}

std::set<std::string> listed_tests() {
    static const std::regex listed(R"(`([A-Z]\w+)\.([A-Z]\w+)`)");
    return names_in(root / "docs/contracts", ".md", listed);
}

TEST(ContractsDoc, NamesOnlyTestsThatExist) {
    std::set<std::string> existing = tests_in(root / "tests");
    existing.merge(tests_in(root / "src"));
    for (const std::string& test : listed_tests()) {
        EXPECT_TRUE(existing.contains(test)) << test << " is in docs/contracts, but no test";
    }
}

TEST(ContractsDoc, ListsEveryConformanceTest) {
    const std::set<std::string> listed = listed_tests();
    for (const std::string& test : tests_in(root / "tests/conformance")) {
        EXPECT_TRUE(listed.contains(test)) << test << " is not listed in docs/contracts/*.md";
    }
}

}  // namespace contracts_doc_test
}  // namespace sluice
