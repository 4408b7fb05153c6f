#include "interfaces/http/access/access.hpp"

#include <gtest/gtest.h>

#include "support/test_engine.hpp"

namespace sluice::http {
namespace access_test {

using namespace std::chrono_literals;

const std::string secret(43, 's');
const std::string wrong_secret(43, 'w');

// Answers at once, and counts its questions.
class CountedQuestions : public QueryQueue {
  public:
    explicit CountedQuestions(Store& store) : reader_(store.reader()) {}
    int asked = 0;

  private:
    bool run(std::function<Delivery(JobReader&)> work) override {
        ++asked;
        work (*reader_)();
        return true;
    }
    std::unique_ptr<JobReader> reader_;
};

class AccessOfTokens : public testing::Test, Clock {
  protected:
    std::string new_token() {
        const Caller admin{.any_tenant = true, .name = "ruth", .scopes = {Scope::admin}};
        const NewToken wanted{
            .name = "ada", .expires = engine.now() + 1h, .secret = sha256(secret)};
        const auto answer = engine.ask(EntityAction{.decide = [=](EntityChanges& changes) {
            return create_token(changes, admin, wanted);
        }});
        if (!answer) throw std::logic_error(answer.error().message);
        return answer->entity->key.id;
    }

    struct Answer {
        CallerPtr caller{};
        int questions = 0;  // that the store was asked for it
    };
    Answer show(const std::string& id, const std::string& shown) {
        const std::string header = "Bearer " + token_text(id, shown);
        Request request;
        request.headers.push_back({"Authorization", header});
        const int before = questions.asked;
        auto known = access.identify(request);
        if (!known) access.look_up(request, [&](Access::Identified found) { known = found; });
        EXPECT_TRUE(known);
        return {known->caller, questions.asked - before};
    }

    TestEngine engine;
    CountedQuestions questions{engine.store()};
    Access access{{}, questions, *this, nullptr};

  private:
    Timestamp now() override { return engine.now(); }
};

// How long an answer takes must not tell whether there is a token of an id.
TEST_F(AccessOfTokens, AsksTheStoreAsMuchForAWrongSecretAsForAnUnknownId) {
    const std::string id = new_token();
    const std::string unknown(24, 'a');
    for (int i = 0; i < 3; ++i) {
        EXPECT_NE(show(id, secret).caller, nullptr) << "known from now on";
        const Answer wrong = show(id, wrong_secret);
        const Answer nobodys = show(unknown, wrong_secret);
        EXPECT_EQ(wrong.caller, nullptr);
        EXPECT_EQ(nobodys.caller, nullptr);
        EXPECT_EQ(wrong.questions, 1);
        EXPECT_EQ(nobodys.questions, 1);
    }
}

TEST_F(AccessOfTokens, AsksNothingForATokenThatIsInUse) {
    const std::string id = new_token();
    EXPECT_EQ(show(id, secret).questions, 1);
    EXPECT_EQ(show(id, secret).questions, 0);
    EXPECT_EQ(show(id, wrong_secret).questions, 1);
    EXPECT_EQ(show(id, secret).questions, 0) << "who guesses costs its holder nothing";
}

TEST_F(AccessOfTokens, IsOverAtOnceForWhoeverHoldsARevokedOne) {
    const std::string id = new_token();
    EXPECT_NE(show(id, secret).caller, nullptr);
    access.shut_out(id);
    EXPECT_EQ(show(id, secret).caller, nullptr);
    EXPECT_EQ(show(id, wrong_secret).caller, nullptr);
}

}  // namespace access_test
}  // namespace sluice::http
