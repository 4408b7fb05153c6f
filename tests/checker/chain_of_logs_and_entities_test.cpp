// The chains of a job with log lines, and of the site that it moved: they really ran, and a change
// of anything in them is noticed.
#include <gtest/gtest.h>

#include <sstream>

#include "checker/story.hpp"

namespace sluice::checker {
namespace {

constexpr std::size_t first_entity_row = 3;
constexpr const char* real_history[] = {
    R"({"kind":"row","row":{"job":910852650063364096,"seq":1,"step":0,"from":-1,"to":0,
        "attempt":0,"lease":0,"at":1795000994599208,"log_seq":0,"actor":"anonymous",
        "detail":"","result":"{\"ok\":true}",
        "hash":"fc31630e5cb9470a3e490e485d21bf69406138704aa937d9b47ef0ce3903fa69","form":2,
        "lines":[]}})",
    R"({"kind":"row","row":{"job":910852650063364096,"seq":2,"step":1,"from":0,"to":1,
        "attempt":1,"lease":910852947695370240,"at":1795001065560412,"log_seq":0,
        "actor":"worker:w","detail":"","result":"{\"ok\":true}",
        "hash":"648522bf31245e33d729e5137ef14cc1b2da1402636d9f64917f652990382fe6","form":2,
        "lines":[]}})",
    R"({"kind":"row","row":{"job":910852650063364096,"seq":3,"step":2,"from":1,"to":2,
        "attempt":1,"lease":910852947695370240,"at":1795001065584234,"log_seq":2,
        "actor":"worker:w","detail":"","result":"{\"ok\":true}",
        "hash":"b17aa3189389ecd662c358257bdf286991cd164bc142a4d58d8a63427a31fb93","form":2,
        "lines":[[1,1,0,1795001065574454,2,"one","{\"n\":1}"],[2,1,1,1795001065574454,2,"two",
        ""]]}})",
    R"({"kind":"entity_row","row":{"tenant":"default","kind":"site","id":"s1","seq":1,
        "at":1795001065560412,"action":"created","from":"","to":"active","actor":"engine",
        "job":910852650063364096,"detail":"",
        "hash":"9ef0d0bdb4fa0352f5622a93efe9aede9171f2a41cf2ff4407c5b8aaba78becf",
        "number":910852947695370241,"created_at":1795001065560412,
        "head":"bd866eacfa7506e459c4de440f7a0d187cb6d958eaeae654efbef353ccba2041",
        "revision":3}})",
    R"({"kind":"entity_row","row":{"tenant":"default","kind":"site","id":"s1","seq":2,
        "at":1795001065560412,"action":"deploy","from":"active","to":"deploying",
        "actor":"engine","job":910852650063364096,"detail":"",
        "hash":"e43aff208a532dfb278c28351ff51c432ec0d66a9a5d878197dba5e7fdabfb88",
        "number":910852947695370241,"created_at":1795001065560412,
        "head":"bd866eacfa7506e459c4de440f7a0d187cb6d958eaeae654efbef353ccba2041",
        "revision":3}})",
    R"({"kind":"entity_row","row":{"tenant":"default","kind":"site","id":"s1","seq":3,
        "at":1795001065584234,"action":"done","from":"deploying","to":"active",
        "actor":"engine","job":910852650063364096,"detail":"",
        "hash":"bd866eacfa7506e459c4de440f7a0d187cb6d958eaeae654efbef353ccba2041",
        "number":910852947695370241,"created_at":1795001065560412,
        "head":"bd866eacfa7506e459c4de440f7a0d187cb6d958eaeae654efbef353ccba2041",
        "revision":3}})",
};

class ChainsOfLogsAndEntities : public testing::Test {
  protected:
    ChainsOfLogsAndEntities() {
        for (const char* text : real_history)
            history.push_back(boost::json::parse(text).as_object());
    }

    Fields& row(std::size_t place) { return history.at(place)["row"].as_object(); }

    bool hold() const {
        std::stringstream record;
        std::stringstream lines;
        for (const Fields& line : history) lines << serialize(line) << '\n';
        return check(read_evidence(record, lines)).is_clean();
    }

    std::vector<Fields> history;
};

TEST_F(ChainsOfLogsAndEntities, ThatAreWholeHold) {
    EXPECT_TRUE(hold());
}

TEST_F(ChainsOfLogsAndEntities, AreBrokenByAChangedLine) {
    const Json whole = row(2)["lines"];
    for (std::size_t field = 0; field < 7; ++field) {
        Json& value = row(2)["lines"].as_array()[0].as_array()[field];
        value = value.is_string() ? Json("another") : Json(value.as_int64() + 1);
        EXPECT_FALSE(hold()) << field;
        row(2)["lines"] = whole;
    }
    EXPECT_TRUE(hold());
}

TEST_F(ChainsOfLogsAndEntities, AreBrokenByALineThatIsGone) {
    row(2)["lines"].as_array().pop_back();
    EXPECT_FALSE(hold());
}

TEST_F(ChainsOfLogsAndEntities, AreBrokenByAChangedEventOfAnEntity) {
    for (const char* name : {"action", "from", "to", "actor", "detail", "id"}) {
        const Json before = row(first_entity_row + 1)[name];
        row(first_entity_row + 1)[name] = "another";
        EXPECT_FALSE(hold()) << name;
        row(first_entity_row + 1)[name] = before;
    }
    for (const char* name : {"seq", "at", "job"}) {
        const Json before = row(first_entity_row + 1)[name];
        row(first_entity_row + 1)[name] = before.as_int64() + 1;
        EXPECT_FALSE(hold()) << name;
        row(first_entity_row + 1)[name] = before;
    }
    EXPECT_TRUE(hold());
}

TEST_F(ChainsOfLogsAndEntities, AreBrokenByAnEntitysEventThatIsGone) {
    history.erase(history.begin() + first_entity_row + 1);
    EXPECT_FALSE(hold());
}

TEST_F(ChainsOfLogsAndEntities, AreBrokenByAnEntityThatKnowsAnotherEndOfIt) {
    row(first_entity_row + 2)["head"] = row(first_entity_row + 1)["hash"];
    EXPECT_FALSE(hold());
}

}  // namespace
}  // namespace sluice::checker
