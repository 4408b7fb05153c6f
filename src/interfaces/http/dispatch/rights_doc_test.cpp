#include <gtest/gtest.h>

#include <fstream>
#include <iterator>

#include "interfaces/http/dispatch/routes.hpp"

namespace sluice::http {
namespace rights_doc_test {

const std::string begin_mark = "<!-- rights: begin -->\n";
const std::string end_mark = "<!-- rights: end -->";

TEST(RightsDoc, HasTheTableOfTheCode) {
    std::ifstream file(SLUICE_SOURCE_DIR "/docs/security.md");
    const std::string text{std::istreambuf_iterator<char>(file), {}};
    const std::size_t begin = text.find(begin_mark);
    const std::size_t end = text.find(end_mark);
    ASSERT_NE(begin, std::string::npos);
    ASSERT_NE(end, std::string::npos);
    const std::size_t from = begin + begin_mark.size();
    EXPECT_TRUE(text.substr(from, end - from) == rights_table())
        << "docs/security.md differs from the table of routes; put this between its marks:\n\n"
        << rights_table();
}

TEST(RightsDoc, EveryRouteSaysWhoMayUseIt) {
    EXPECT_NO_THROW(check_rights());
}

}  // namespace rights_doc_test
}  // namespace sluice::http
