// A change of any field in the chain of hashes of a real job is noticed.
#include <gtest/gtest.h>

#include <sstream>

#include "checker/story.hpp"

namespace sluice::checker {
namespace chain_rules_test {

using Rows = std::vector<Fields>;

constexpr const char* real_rows[] = {
    R"({"job":909894056371290112,"seq":1,"step":0,"from":-1,"to":0,"attempt":0,"lease":0,
        "at":1794772448053079,"log_seq":0,"actor":"anonymous","detail":"",
        "result":"{\"by\":\"6afa0de00035000000000000-0ca097d2cd400001\"}",
        "hash":"a82a636ee4891a3b4ca3f18f589a226dc11ceb525fd066c3f8abc3c238d7dea7"})",
    R"({"job":909894056371290112,"seq":2,"step":1,"from":0,"to":1,"attempt":1,
        "lease":909894056371290113,"at":1794772448053079,"log_seq":0,
        "actor":"worker:worker-0-life-1","detail":"",
        "result":"{\"by\":\"6afa0de00035000000000000-0ca097d2cd400001\"}",
        "hash":"b6dcabfb0ebc2bcb55619a31d16bc34c5fb921ad933606ba782feabdbcac0db6"})",
    R"({"job":909894056371290112,"seq":3,"step":2,"from":1,"to":2,"attempt":1,
        "lease":909894056371290113,"at":1794772448082012,"log_seq":1,
        "actor":"worker:worker-0-life-1","detail":"",
        "result":"{\"by\":\"6afa0de00035000000000000-0ca097d2cd400001\"}",
        "hash":"dc03213f8f4fc5a53d691f8de5aec965db1c4cac3492e4301412fcee01fb4ee0"})"};

Rows real_chain() {
    Rows rows;
    for (const char* text : real_rows) rows.push_back(boost::json::parse(text).as_object());
    return rows;
}

bool holds(const Rows& rows) {
    std::stringstream record;
    std::stringstream history;
    for (const Fields& row : rows) {
        history << serialize(Fields{{"kind", "row"}, {"row", row}}) << '\n';
    }
    return check(read_evidence(record, history)).is_clean();
}

TEST(Chain, OfARealJobHolds) {
    EXPECT_TRUE(holds(real_chain()));
}

TEST(Chain, IsNoticedWhenANumberIsChanged) {
    for (const char* name :
         {"job", "step", "from", "to", "attempt", "lease", "at", "log_seq", "seq"}) {
        Rows rows = real_chain();
        rows[1][name] = rows[1][name].as_int64() + 1;
        EXPECT_FALSE(holds(rows)) << name;
    }
}

TEST(Chain, IsNoticedWhenATextIsChanged) {
    for (const char* name : {"actor", "detail", "result"}) {
        Rows rows = real_chain();
        rows[2][name] = "another";
        EXPECT_FALSE(holds(rows)) << name;
    }
}

TEST(Chain, IsNoticedWhenARowIsGoneOrSwapped) {
    Rows gone = real_chain();
    gone.erase(gone.begin() + 1);
    Rows swapped = real_chain();
    std::swap(swapped[1]["hash"], swapped[2]["hash"]);

    EXPECT_FALSE(holds(gone));
    EXPECT_FALSE(holds(swapped));
}

TEST(Chain, IsNoticedWhenTheApiShowsAnEventThatIsNotInTheStore) {
    Story story;
    story.cancel(story.submit());
    std::stringstream record;
    std::stringstream history;
    for (const Fields& line : story.record) record << serialize(line) << '\n';
    for (const auto& [id, chapter] : story.jobs) {
        history << serialize(Fields{{"kind", "job"}, {"job", chapter.fields}}) << '\n';
        for (const Fields& event : chapter.events) {
            history << serialize(Fields{{"kind", "event"}, {"job_id", id}, {"event", event}})
                    << '\n';
        }
    }
    history << serialize(Fields{{"kind", "row"}, {"row", real_chain()[0]}}) << '\n';

    const Verdict verdict = check(read_evidence(record, history));

    EXPECT_EQ(verdict.broken(), std::vector<std::string>{"I20"}) << verdict.table();
}

}  // namespace chain_rules_test
}  // namespace sluice::checker
