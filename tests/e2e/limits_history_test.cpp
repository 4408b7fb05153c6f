// The control history: what it tells of changes that no request asks for.
#include <fstream>
#include <optional>
#include <set>

#include "e2e/limits_support.hpp"
#include "infrastructure/postgres/connection/connection.hpp"
#include "support/postgres.hpp"

namespace sluice::e2e {
namespace limits_history_test {

// Rules of a configuration on a store that keeps them over restarts.
class ConfiguredHistory : public testing::Test {
  protected:
    void serve(const std::string& governance) {
        if (engine) {
            EXPECT_EQ(engine->stop(), 0);
        }
        const auto file = folder.path() / "sluice.toml";
        std::ofstream(file) << governance;
        engine.emplace("sqlite:" + (folder.path() / "s.db").string(),
                       std::vector<std::string>{"--config", file.string()});
        api.emplace(engine->port(), "default");
    }
    // "rule_changed by configuration: 1 -> 5" of each event after this one.
    std::vector<std::string> told(std::int64_t after) {
        std::vector<std::string> texts;
        const Json read = api->get("/api/v1/limits/history?after=" + std::to_string(after));
        for (const Json& event : list(read, "events")) {
            texts.push_back(text(event, "action") + " by " + text(event, "actor"));
            if (text(event, "action") == "configured") continue;
            const Json detail = at(event, "detail");
            for (const char* side : {"before", "after"}) {
                texts.back() += is_null(detail, side) ? " -"
                                : at(detail, side).as_object().contains("tenants")
                                    ? " " + serialize(at(at(detail, side), "tenants"))
                                    : " " + std::to_string(number(at(detail, side), "max_active"));
            }
            if (text(event, "actor") == "configuration") reasons.insert(text(detail, "reason"));
        }
        return texts;
    }
    std::int64_t last_event() {
        return number(list(api->get("/api/v1/limits/history"), "events").back(), "seq");
    }

    TempFolder folder;
    std::optional<Engine> engine;
    std::optional<Api> api;
    std::set<std::string> reasons;
};

TEST_F(ConfiguredHistory, TellsOfEachRuleProfileAndQuotaThatARevisionChanges) {
    serve(R"([governance]
revision = 1
[[governance.limit]]
name = "a"
max_active = 1
[[governance.limit]]
name = "b"
max_active = 2
[[governance.profile]]
name = "gold"
tenants = ["acme"]
)");
    EXPECT_EQ(told(1), (std::vector<std::string>{"rule_added by configuration - 1",
                                                 "rule_added by configuration - 2",
                                                 R"(profile_changed by configuration - ["acme"])",
                                                 "configured by configuration"}));
    expect_ok(post(*api, "/quotas", {{"tenant", "acme"}, {"max_active", 9}}), 201);
    const std::int64_t before = last_event();
    reasons.clear();

    serve(R"([governance]
revision = 20
[[governance.limit]]
name = "a"
max_active = 5
[[governance.quota]]
name = "acme"
tenant = "acme"
max_active = 3
)");

    EXPECT_EQ(
        told(before),
        (std::vector<std::string>{
            "rule_lifted by configuration 9 -", "rule_added by configuration - 3",
            "rule_changed by configuration 1 5", "rule_lifted by configuration 2 -",
            R"(profile_changed by configuration ["acme"] -)", "configured by configuration"}));
    EXPECT_EQ(reasons, std::set<std::string>{"revision 20 of the configuration"});
    expect_ok(post(*api, "/quotas/profiles/gold", {{"tenants", List{"zeta"}}}));
    EXPECT_EQ(told(last_event() - 1),
              std::vector<std::string>{R"(profile_changed by anonymous - ["zeta"])"});
    const std::int64_t end = last_event();
    serve(
        "[governance]\nrevision = 20\n[[governance.limit]]\nname = \"a\"\nmax_active = 5\n"
        "[[governance.quota]]\nname = \"acme\"\ntenant = \"acme\"\nmax_active = 3\n");
    EXPECT_EQ(last_event(), end) << "the same revision changes nothing";
}

// Meters can be wrong only when somebody has written to the database.
TEST(PostgresMeterRepair, IsAnEventWithWhatDiffered) {
    const std::string database = fresh_database();
    Engine engine(database);
    Api api(engine.port(), "default");
    const Json rule = expect_ok(
        post(api, "/limits", {{"name", "few"}, {"per", List{"tenant"}}, {"max_active", 2}}), 201);
    submit_some(api, 3);
    EXPECT_EQ(api.claim({{"limit", 9}}).size(), 2u);
    postgres::Connection({.url = database}).execute("UPDATE meter SET taken = taken + 5");
    const auto check = [&](const Fields& fields) {
        return expect_ok(api.http.post("/api/v1/limits/check", serialize(fields)));
    };
    EXPECT_EQ(list(check({}), "differences").size(), 1u);

    EXPECT_EQ(list(check({{"repair", true}, {"ticket", "OPS-9"}}), "differences").size(), 1u);

    const Json event = list(api.get("/api/v1/limits/history"), "events").back();
    EXPECT_EQ(text(event, "action"), "meters_repaired");
    EXPECT_EQ(text(event, "actor"), "anonymous");
    const Json detail = at(event, "detail");
    EXPECT_EQ(text(detail, "ticket"), "OPS-9");
    EXPECT_EQ(number(detail, "difference_count"), 1);
    const Json difference = list(detail, "differences")[0];
    EXPECT_EQ(text(difference, "rule"), text(rule, "id"));
    EXPECT_EQ(text(difference, "meter"), "tenant default");
    EXPECT_EQ(number(difference, "counted"), 7);
    EXPECT_EQ(number(difference, "leased"), 2);
    EXPECT_TRUE(list(check({{"repair", true}}), "differences").empty());
    EXPECT_EQ(number(list(api.get("/api/v1/limits/history"), "events").back(), "seq"),
              number(event, "seq"))
        << "a repair of nothing is no event";
    EXPECT_TRUE(api.claim().empty()) << "the limit holds";
    expect_ok(post(api, "/limits/" + text(rule, "id"), {{"max_active", 3}}));
    EXPECT_EQ(api.claim().size(), 1u) << "and it can be changed";
}

}  // namespace limits_history_test
}  // namespace sluice::e2e
