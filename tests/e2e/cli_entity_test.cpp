// `sluice entity …`: the words that say which entity is meant.
#include <gtest/gtest.h>

#include "e2e/cli.hpp"

namespace sluice::e2e {
namespace cli_entity_test {

class CliEntity : public CliTest {};

TEST_F(CliEntity, IsNamedByItsKindAndItsIdInTwoWords) {
    const std::string two_words = "write kind and id as two words";
    const std::vector<std::pair<Words, std::string>> cases{
        {{"get", "site"}, two_words},
        {{"get", "site/shop"}, two_words},
        {{"act", "site/shop", "frob"}, two_words},
        {{"create", "site", ""}, "ID must not be empty"},
        {{"list", "--all", "--limit", "3"}, "--limit and --all contradict each other"},
    };
    for (const auto& [more, message] : cases) {
        Words words{"entity"};
        words.insert(words.end(), more.begin(), more.end());
        const Ended ended = cli(words);
        EXPECT_EQ(ended.code, 2) << message;
        EXPECT_TRUE(has(ended.errors, message)) << ended.errors;
    }
}

}  // namespace cli_entity_test
}  // namespace sluice::e2e
