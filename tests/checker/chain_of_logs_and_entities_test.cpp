// The chains of a job with log lines, and of the site that it moved: from a real run; a change of
// any field in them is noticed.
#include <gtest/gtest.h>

#include <sstream>

#include "checker/story.hpp"

namespace sluice::checker {
namespace chain_of_logs_and_entities_test {

constexpr std::size_t first_entity_row = 3;
constexpr const char* real_history[] = {
    R"({"kind":"row","row":{"job":910869668225351680,"seq":1,"step":0,"from":-1,"to":0,
        "attempt":0,"lease":0,"at":1795005052045103,"log_seq":0,"actor":"anonymous",
        "detail":"","result":"{\"ok\":true}",
        "hash":"e1b1d3c8385fc511bf1c806b586949f86aeed82bb69c45087ca0021e0cd54700","form":2,
        "lines":[]}})",
    R"({"kind":"row","row":{"job":910869668225351680,"seq":2,"step":1,"from":0,"to":1,
        "attempt":1,"lease":910869668326014976,"at":1795005052069966,"log_seq":0,
        "actor":"worker:w","detail":"","result":"{\"ok\":true}",
        "hash":"7cf007e7ce9d82d19ead9090c1499843240296228d0396c8f7839f5811949431","form":2,
        "lines":[]}})",
    R"({"kind":"row","row":{"job":910869668225351680,"seq":3,"step":2,"from":1,"to":2,
        "attempt":1,"lease":910869668326014976,"at":1795005052419960,"log_seq":2,
        "actor":"worker:w","detail":"","result":"{\"ok\":true}",
        "hash":"7846b3346c5c3aa1308979cc5f3dee1bf308fb3712fcf96df03e618f9e107751","form":2,
        "lines":[[1,1,0,1795005052404029,2,"one","{\"n\":1}"],[2,1,1,1795005052404029,2,"two",
        ""]]}})",
    R"({"kind":"entity_row","row":{"tenant":"default","kind":"site","id":"s1","seq":1,
        "at":1795005052069966,"action":"created","from":"","to":"active","actor":"engine",
        "job":910869668225351680,"detail":"",
        "hash":"ef3d55990ab535b0d4c8c6abd1e81dd7e2a0f80531f38a54a9231a41e59c999f",
        "number":910869668326014977,"created_at":1795005052069966,
        "head":"9a4bd109ea6e8bdf68faa9d7e1ede3f467507e612536b64154006e9c5f188132","revision":3,
        "state":"active","parent":"","updated_at":1795005052419960,
        "attributes":"{\"job_id\":\"6afd9a7c002d000000000000\"}",
        "seal":"6fd4f8157cb20b21f318a8fc83ee7d6c2c51104910cadb80edb3ca1008f61d92"}})",
    R"({"kind":"entity_row","row":{"tenant":"default","kind":"site","id":"s1","seq":2,
        "at":1795005052069966,"action":"deploy","from":"active","to":"deploying",
        "actor":"engine","job":910869668225351680,"detail":"",
        "hash":"350647a09056d78283503dba7013aadfab14bd0e0223309ead851db4c8d0dd0a",
        "number":910869668326014977,"created_at":1795005052069966,
        "head":"9a4bd109ea6e8bdf68faa9d7e1ede3f467507e612536b64154006e9c5f188132","revision":3,
        "state":"active","parent":"","updated_at":1795005052419960,
        "attributes":"{\"job_id\":\"6afd9a7c002d000000000000\"}",
        "seal":"6fd4f8157cb20b21f318a8fc83ee7d6c2c51104910cadb80edb3ca1008f61d92"}})",
    R"({"kind":"entity_row","row":{"tenant":"default","kind":"site","id":"s1","seq":3,
        "at":1795005052419960,"action":"done","from":"deploying","to":"active",
        "actor":"engine","job":910869668225351680,"detail":"",
        "hash":"9a4bd109ea6e8bdf68faa9d7e1ede3f467507e612536b64154006e9c5f188132",
        "number":910869668326014977,"created_at":1795005052069966,
        "head":"9a4bd109ea6e8bdf68faa9d7e1ede3f467507e612536b64154006e9c5f188132","revision":3,
        "state":"active","parent":"","updated_at":1795005052419960,
        "attributes":"{\"job_id\":\"6afd9a7c002d000000000000\"}",
        "seal":"6fd4f8157cb20b21f318a8fc83ee7d6c2c51104910cadb80edb3ca1008f61d92"}})",
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

TEST_F(ChainsOfLogsAndEntities, AreBrokenByAnEntitysLastEventThatIsGone) {
    history.pop_back();
    EXPECT_FALSE(hold());
}

TEST_F(ChainsOfLogsAndEntities, AreBrokenByAnEntityWithoutEvents) {
    history.erase(history.begin() + first_entity_row, history.end() - 1);
    for (const char* name : {"at", "action", "from", "to", "actor", "job", "detail", "hash"}) {
        row(first_entity_row)[name] = nullptr;
    }
    row(first_entity_row)["seq"] = 0;
    EXPECT_FALSE(hold());
}

TEST_F(ChainsOfLogsAndEntities, AreBrokenByAnEntityThatIsNotAsItWasSealed) {
    Fields& last = row(first_entity_row + 2);
    const std::pair<const char*, Json> changes[] = {
        {"head", row(first_entity_row + 1)["hash"]},
        {"state", "failed"},
        {"parent", "shop"},
        {"revision", 4},
        {"updated_at", last["updated_at"].as_int64() + 1},
        {"attributes", "{}"},
        {"attributes", "{"},
        {"seal", row(first_entity_row + 1)["hash"]}};
    for (const auto& [name, value] : changes) {
        const Json before = last[name];
        last[name] = value;
        EXPECT_FALSE(hold()) << name;
        last[name] = before;
    }
    EXPECT_TRUE(hold());
}

}  // namespace chain_of_logs_and_entities_test
}  // namespace sluice::checker
