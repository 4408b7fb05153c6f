#include "interfaces/cli/limits/control_history.hpp"

#include <gtest/gtest.h>

namespace sluice::cli {
namespace control_history_test {

JsonObject event(const std::string& action, const std::string& before, const std::string& after,
                 const std::string& subject = R"("rule":"65f0")") {
    return JsonObject(with_change(R"({"seq":7,"action":")" + action + R"(","detail":{)" + subject +
                                  R"(,"before":)" + before + R"(,"after":)" + after +
                                  R"(,"reason":"why","ticket":"OPS-1"}})"));
}

TEST(ControlHistory, SaysWhatChangedOfARule) {
    const JsonObject change = event(
        "rule_changed",
        R"({"kind":"limit","name":"smtp","max_active":8,"until":"2026-11-15T14:00:00Z"})",
        R"({"kind":"limit","name":"smtp","max_active":16,"rate_count":100,"rate_period_ms":60000,)"
        R"("rate_burst":1})");
    EXPECT_EQ(change.text("what"), "changed");
    EXPECT_EQ(change.text("rule"), "limit smtp");
    EXPECT_EQ(change.text("id"), "65f0");
    EXPECT_EQ(change.text("change"),
              "max_active 8 -> 16, rate none -> 100/min, burst none -> 1, until 2026-11-15 "
              "14:00:00.000Z -> none");
    EXPECT_EQ(change.text("reason"), "why");
    EXPECT_EQ(change.text("ticket"), "OPS-1");
}

TEST(ControlHistory, SaysWhatANewRuleBounds) {
    const JsonObject made =
        event("rule_added", "null",
              R"({"kind":"quota","tenant":"acme","type":"scan","max_active":8,"rate_count":5000,)"
              R"("rate_period_ms":3600000,"rate_burst":83,"rate_whole_hour":true})");
    EXPECT_EQ(made.text("what"), "added");
    EXPECT_EQ(made.text("rule"), "quota for tenant acme, type scan");
    EXPECT_EQ(made.text("change"), "max_active 8, max_per_hour 5000, burst 83");
    const JsonObject named = event(
        "rule_added", "null", R"({"kind":"limit","name":"smtp","type":"mail.*","max_active":8})");
    EXPECT_EQ(named.text("rule"), "limit smtp");
    EXPECT_EQ(named.text("change"), "type mail.*, max_active 8");
}

TEST(ControlHistory, NamesWhatWasDoneByItsKind) {
    const std::string open = R"({"kind":"quota","max_active":8})";
    const std::string paused = R"({"kind":"quota","max_active":8,"paused":true})";
    EXPECT_EQ(event("rule_changed", open, paused).text("what"), "paused");
    EXPECT_EQ(event("rule_changed", open, paused).text("change"), "");
    EXPECT_EQ(event("rule_changed", paused, open).text("what"), "resumed");
    EXPECT_EQ(event("rule_lifted", open, "null").text("what"), "lifted");
    EXPECT_EQ(event("rule_lifted", open, "null").text("change"), "");
    EXPECT_EQ(event("rule_lifted", open, "null").text("rule"), "quota for all jobs");
    const std::string stop = R"({"kind":"maintenance","paused":true,"refuses_submits":true})";
    EXPECT_EQ(event("rule_added", "null", stop).text("what"), "started");
    EXPECT_EQ(event("rule_added", "null", stop).text("change"), "submits refused");
    EXPECT_EQ(event("rule_lifted", stop, "null").text("what"), "ended");
    const std::string block = R"({"kind":"block","tenant":"mallory","paused":true})";
    EXPECT_EQ(event("rule_added", "null", block).text("what"), "blocked");
    EXPECT_EQ(event("rule_lifted", block, "null").text("what"), "unblocked");
    EXPECT_EQ(JsonObject(with_change(R"({"action":"created","detail":null})")).text("rule"),
              "this history");
    const JsonObject repair(with_change(R"({"action":"meters_repaired","detail":{}})"));
    EXPECT_EQ(repair.text("what"), "repaired");
    EXPECT_EQ(repair.text("rule"), "what rules have counted");
    EXPECT_EQ(event("something_new", "null", "null").text("what"), "something new");
}

TEST(ControlHistory, SaysWhoIsGivenAProfile) {
    const JsonObject change = event("profile_changed", R"({"tenants":["acme"]})",
                                    R"({"tenants":["acme","globex"]})", R"("profile":"gold")");
    EXPECT_EQ(change.text("rule"), "profile gold");
    EXPECT_EQ(change.text("subject"), "gold");
    EXPECT_EQ(change.text("change"), "tenants acme -> acme,globex");
}

TEST(ControlHistory, AnEventIsFoundByTheIdOrTheNameOfItsRule) {
    const JsonObject change = event("rule_lifted", R"({"kind":"limit","name":"smtp"})", "null");
    EXPECT_TRUE(is_about(change, "65f0"));
    EXPECT_TRUE(is_about(change, "65"));
    EXPECT_TRUE(is_about(change, "smtp"));
    EXPECT_FALSE(is_about(change, "66"));
    EXPECT_FALSE(is_about(change, "smt"));
}

}  // namespace control_history_test
}  // namespace sluice::cli
