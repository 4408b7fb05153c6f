#include "interfaces/http/toolkit/long_questions.hpp"

#include <gtest/gtest.h>

#include <string>

namespace sluice::http {
namespace long_questions_test {

class LongQuestionsTest : public testing::Test {
  protected:
    void enter(char name) {
        line.enter({[this, name] { return unwanted.find(name) == std::string::npos; },
                    [this, name] { asked += name; }});
    }

    LongQuestions line;
    std::string asked;
    std::string unwanted;
};

TEST_F(LongQuestionsTest, AreAskedOneAtATimeInTheirOrder) {
    for (const char name : {'a', 'b', 'c'}) enter(name);
    EXPECT_EQ(asked, "a");
    line.end();
    EXPECT_EQ(asked, "ab");
    line.end();
    line.end();
    EXPECT_EQ(asked, "abc");
    enter('d');
    EXPECT_EQ(asked, "abcd");
}

TEST_F(LongQuestionsTest, ThatNobodyWaitsForAreNotAsked) {
    for (const char name : {'a', 'b', 'c'}) enter(name);
    unwanted = "b";
    line.end();
    EXPECT_EQ(asked, "ac");
}

// As when the store refuses: there is no recursion, however many wait.
TEST_F(LongQuestionsTest, MayHaveTheirAnswerAtOnce) {
    enter('a');
    for (int i = 0; i < 100'000; ++i) {
        line.enter({[] { return true; }, [this] { line.end(); }});
    }
    enter('z');
    line.end();
    EXPECT_EQ(asked, "az");
}

}  // namespace long_questions_test
}  // namespace sluice::http
