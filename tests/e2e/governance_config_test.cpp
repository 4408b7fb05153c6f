// [governance] of the configuration: when its rules come into force, which of two files decides,
// and what the engine says about it.
#include <gtest/gtest.h>

#include <fstream>
#include <memory>
#include <set>

#include "e2e/cli.hpp"
#include "e2e/limits_support.hpp"
#include "support/postgres.hpp"

namespace sluice::e2e {
namespace governance_config_test {

// An engine and its log up to the moment at which it serves.
class Node {
  public:
    Node(const std::string& config, const std::string& store)
        : process_(sluice_command(words(config, store))) {}

    static Words words(const std::string& config, const std::string& store) {
        return {"serve",   "--no-auth", "--listen", "127.0.0.1:0",
                "--store", store,       "--config", config};
    }

    // Waits until it serves; throws when it does not.
    void serve() {
        while (port_ == 0) {
            const auto line = process_.read_line(Millis(60'000));
            if (!line) throw std::runtime_error("it does not serve: " + process_.errors());
            log_ += *line + "\n";
            const Json record = parse(*line);
            if (text(record, "message") != "serving") continue;
            const std::string address = text(record, "address");
            port_ = static_cast<std::uint16_t>(std::stoi(address.substr(address.rfind(':') + 1)));
        }
    }
    int stop() {
        process_.send_signal(SIGTERM);
        return process_.wait(Millis(30'000)).value_or(-1);
    }

    std::uint16_t port() const { return port_; }
    bool warns(const std::string& message) const {
        for (const std::string& line : lines_of(log_)) {
            const Json record = parse(line);
            if (text(record, "level") == "warning" && has(text(record, "message"), message)) {
                return true;
            }
        }
        return false;
    }
    const std::string& log() const { return log_; }

  private:
    Process process_;
    std::uint16_t port_ = 0;
    std::string log_;
};

class Governance : public testing::Test {
  protected:
    Governance() : Governance("") {}
    explicit Governance(std::string url)
        : store(url.empty() ? "sqlite:" + (folder.path() / "s.db").string() : std::move(url)) {}

    std::string file(const std::string& text) const {
        const std::string path = (folder.path() / fresh_name("config")).string() + ".toml";
        std::ofstream(path) << text;
        return path;
    }
    // Ends the engine that runs, and starts one with this text as its configuration.
    Node& restart(const std::string& text) {
        if (node) {
            EXPECT_EQ(node->stop(), 0);
        }
        node = std::make_unique<Node>(file(text), store);
        node->serve();
        return *node;
    }
    // The messages of an engine that does not start.
    Ended refused(const std::string& text) const {
        return run_sluice(Node::words(file(text), store));
    }

    const TempFolder folder;
    const std::string store;
    std::unique_ptr<Node> node;
};

std::string revision(int number) {
    return "[governance]\nrevision = " + std::to_string(number) + "\n";
}

std::string limit_of(const std::string& name, const std::string& rest) {
    return "[[governance.limit]]\nname = \"" + name + "\"\n" + rest + "\n";
}

std::string maintenance_of(const std::string& rest = "") {
    return "[governance.maintenance]\nreason = \"restored from a backup\"\n" + rest + "\n";
}

Api api_of(const Node& node, const std::string& queue = "default") {
    return {node.port(), queue};
}

std::size_t claimed(const Node& node, const std::string& queue = "default") {
    return api_of(node, queue).claim({{"limit", 9}, {"lease_ms", 600'000}}).size();
}

Ended on(const Node& node, Words words) {
    words.insert(words.end(), {"--server", "http://127.0.0.1:" + std::to_string(node.port())});
    return run_sluice(words);
}

using Names = std::set<std::string>;
Names rules_of(const Node& node) {
    Names names;
    Api api = api_of(node);
    for (const Json& rule : list(api.get("/api/v1/limits"), "limits")) {
        names.insert(text(rule, "name"));
    }
    return names;
}

Json rule_named(const Node& node, const std::string& name) {
    return parse(on(node, {"limit", "get", name, "--json"}).output);
}

// ── when ──

TEST_F(Governance, ItsRulesAreInForceForTheFirstRequest) {
    restart("");
    for (const char* queue : {"few", "slow", "free"}) {
        Api api = api_of(*node, queue);
        submit_some(api, 3);
    }

    restart(revision(3) + limit_of("one", "queue = \"few\"\nmax_active = 1") +
            limit_of("rare",
                     "queue = \"slow\"\nrate = {count = 2, period_ms = "
                     "3600000, burst = 2}"));

    EXPECT_EQ(claimed(*node, "few"), 1u);
    EXPECT_EQ(claimed(*node, "slow"), 2u);
    EXPECT_EQ(claimed(*node, "free"), 3u);
    EXPECT_TRUE(has(node->log(), R"("revision":3,"rules":2)")) << node->log();
    const Json rule = rule_named(*node, "one");
    EXPECT_TRUE(flag(rule, "configured"));
    EXPECT_TRUE(is_null(rule, "actor") || text(rule, "actor") == "configuration");
    EXPECT_TRUE(has(on(*node, {"limit", "list", "-o", "table"}).output, "configuration"));
}

TEST_F(Governance, QuotasAndProfilesAreInForceToo) {
    restart(revision(1) +
            "[[governance.quota]]\nname = \"gold\"\nprofile = \"gold\"\n"
            "max_active = 2\n[[governance.profile]]\nname = \"gold\"\n"
            "tenants = [\"acme\"]\n[[governance.quota]]\nname = \"all\"\n"
            "max_active = 1\nmax_per_hour = 600\n");
    Api api = api_of(*node);
    for (const char* tenant : {"acme", "zeta"}) submit_some(api, 4, {{"tenant", tenant}});

    EXPECT_EQ(api.claim({{"tenant", "acme"}, {"limit", 9}}).size(), 2u);
    EXPECT_EQ(api.claim({{"tenant", "zeta"}, {"limit", 9}}).size(), 1u);
    EXPECT_EQ(number(rule_named(*node, "all"), "max_per_hour"), 600);
}

// ── which file ──

TEST_F(Governance, AHigherRevisionChangesAddsAndEnds) {
    restart(revision(1) + limit_of("kept", "queue = \"kept\"\nmax_active = 1") +
            limit_of("gone", "queue = \"gone\"\npaused = true"));
    const std::string id = text(rule_named(*node, "kept"), "id");
    for (const char* queue : {"kept", "gone", "new"}) {
        Api api = api_of(*node, queue);
        submit_some(api, 5);
    }
    EXPECT_EQ(claimed(*node, "kept"), 1u);
    EXPECT_EQ(claimed(*node, "gone"), 0u);

    restart(revision(2) + limit_of("kept", "queue = \"kept\"\nmax_active = 3") +
            limit_of("new", "queue = \"new\"\nmax_active = 2"));

    EXPECT_EQ(rules_of(*node), (Names{"kept", "new"}));
    EXPECT_EQ(text(rule_named(*node, "kept"), "id"), id);
    EXPECT_EQ(claimed(*node, "kept"), 2u) << "one runs since the former revision";
    EXPECT_EQ(claimed(*node, "gone"), 5u);
    EXPECT_EQ(claimed(*node, "new"), 2u);
    restart(revision(3));
    EXPECT_EQ(rules_of(*node), Names{}) << "a section without rules ends them";
}

TEST_F(Governance, OfALowerRevisionTheStoresRulesHoldAndTheLogWarns) {
    restart(revision(7) + limit_of("newer", "max_active = 1"));
    EXPECT_FALSE(node->warns("revision")) << node->log();

    restart(revision(6) + limit_of("older", "max_active = 5"));

    EXPECT_TRUE(node->warns("have revision 6, and the store has revision 7 already, which holds"))
        << node->log();
    EXPECT_TRUE(node->warns("raise governance.revision")) << node->log();
    EXPECT_EQ(rules_of(*node), Names{"newer"});
    Api api = api_of(*node);
    submit_some(api, 3);
    EXPECT_EQ(claimed(*node), 1u);
}

TEST_F(Governance, WithoutASectionTheStoresRulesHoldAndTheLogWarns) {
    restart("");
    EXPECT_FALSE(node->warns("governance")) << "there are none";
    restart(revision(7) + limit_of("kept", "max_active = 1"));

    restart("");

    EXPECT_TRUE(node->warns("no [governance], and the rules of its revision 7 stay in force"))
        << node->log();
    EXPECT_EQ(rules_of(*node), Names{"kept"});
}

TEST_F(Governance, TheSameRevisionWithOtherRulesDoesNotStart) {
    const std::string right = revision(7) + limit_of("kept", "max_active = 1");
    restart(right);
    EXPECT_EQ(node->stop(), 0);
    node.reset();

    for (const std::string& other :
         {revision(7) + limit_of("kept", "max_active = 2"), revision(7),
          right + limit_of("more", "max_active = 9"), right + maintenance_of()}) {
        const Ended ended = refused(other);
        EXPECT_EQ(ended.code, 1) << other;
        EXPECT_TRUE(has(ended.errors,
                        "[governance]: the rules of the configuration differ from "
                        "those that the store has of the same revision 7: raise "
                        "governance.revision"))
            << ended.errors;
    }
    restart("# another text, the same rules\n" + right);
    EXPECT_EQ(rules_of(*node), Names{"kept"});
    EXPECT_FALSE(node->warns("revision")) << node->log();
    EXPECT_FALSE(has(node->log(), "are in force")) << "nothing was written: " << node->log();
}

TEST_F(Governance, AFileWithAMistakeDoesNotStart) {
    const Ended ended = refused(revision(1) + limit_of("none", "max_active = 0"));
    EXPECT_EQ(ended.code, 1);
    EXPECT_TRUE(has(ended.errors, ":5: ") && has(ended.errors, "max_active")) << ended.errors;
    const Ended unnumbered = refused(limit_of("none", "max_active = 1"));
    EXPECT_EQ(unnumbered.code, 1);
    EXPECT_TRUE(has(unnumbered.errors, "revision")) << unnumbered.errors;
}

// ── beside what is made by hand ──

TEST_F(Governance, ItsRulesAreNotChangedByCommandsAndComeBackWithTheNextRevision) {
    const std::string rules = limit_of("few", "max_active = 1");
    restart(revision(1) + rules);

    const Ended changed =
        on(*node, {"limit", "change", "few", "--max-active", "9", "--reason", "a test"});
    EXPECT_EQ(changed.code, 6);
    EXPECT_TRUE(has(changed.errors, "comes from the configuration")) << changed.errors;
    const Ended lifted = on(*node, {"limit", "lift", "few", "--reason", "a test"});
    EXPECT_EQ(lifted.code, 0);
    EXPECT_TRUE(has(lifted.errors, "next revision brings it back")) << lifted.errors;

    restart(revision(1) + rules);
    EXPECT_EQ(rules_of(*node), Names{});
    restart(revision(2) + rules);
    EXPECT_EQ(rules_of(*node), Names{"few"});
}

TEST_F(Governance, RulesMadeByHandStayButForAQuotaForTheSameJobs) {
    restart("");
    const std::string mine =
        on(*node, {"limit", "add", "--name", "mine", "--max-active", "9", "--reason", "a test"})
            .output;
    EXPECT_EQ(mine.size(), 25u);
    on(*node, {"quota", "set", "--tenant", "acme", "--max-active", "9", "--reason", "a test"});

    restart(revision(1) +
            "[[governance.quota]]\nname = \"agreed\"\ntenant = "
            "\"acme\"\nmax_active = 1\n");

    EXPECT_EQ(rules_of(*node), (Names{"mine", "agreed"}));
    EXPECT_TRUE(node->warns("which anonymous has made, is lifted: \"agreed\"")) << node->log();
}

// ── maintenance ──

TEST_F(Governance, AnEngineStartsInMaintenanceUntilThatIsEndedByHand) {
    restart("");
    Api before = api_of(*node);
    submit_some(before, 2);

    const std::string rules = maintenance_of();
    restart(revision(1) + rules);

    EXPECT_EQ(claimed(*node), 0u);
    Api api = api_of(*node);
    const Json ready = expect_ok(api.http.get("/readyz"));
    EXPECT_TRUE(flag(ready, "maintenance"));
    EXPECT_EQ(text(ready, "reason"), "restored from a backup");
    api.submit();
    EXPECT_TRUE(has(on(*node, {"maintenance", "show"}).output, "restored from a backup"));
    const Ended ended = on(*node, {"maintenance", "end", "--reason", "looked at"});
    EXPECT_EQ(ended.code, 0) << ended.errors;
    EXPECT_EQ(claimed(*node), 3u);

    restart(revision(1) + rules);
    Api again = api_of(*node);
    again.submit();
    EXPECT_EQ(claimed(*node), 1u) << "the same revision does not bring it back";
    restart(revision(2) + rules);
    EXPECT_TRUE(flag(parse(Client(node->port()).get("/readyz").body), "maintenance"));
    restart(revision(3));
    EXPECT_FALSE(has(Client(node->port()).get("/readyz").body, "maintenance"));
}

TEST_F(Governance, MaintenanceOfTheConfigurationMayRefuseSubmits) {
    restart(revision(1) + maintenance_of("submits = \"refuse\""));
    Api api = api_of(*node);
    const Response submitted = api.try_submit({});
    expect_refused(submitted, 503, "unavailable");
    EXPECT_TRUE(has(submitted.body, "restored from a backup"));
    const Ended reasonless = refused(revision(2) + "[governance.maintenance]\n");
    EXPECT_EQ(reasonless.code, 1);
    EXPECT_TRUE(has(reasonless.errors, "reason")) << reasonless.errors;
}

// ── several nodes ──

class PostgresGovernance : public Governance {
  protected:
    PostgresGovernance() : Governance(migrated_database()) {}

    std::unique_ptr<Node> another(const std::string& text) const {
        auto made = std::make_unique<Node>(file(text), store);
        made->serve();
        return made;
    }
};

TEST_F(PostgresGovernance, OfTwoNodesTheHigherRevisionDecides) {
    const std::string older = revision(1) + limit_of("few", "max_active = 1");
    restart(older);
    Api first = api_of(*node);
    submit_some(first, 9);
    EXPECT_EQ(claimed(*node), 1u);

    const auto newer = another(revision(2) + limit_of("few", "max_active = 3"));
    EXPECT_EQ(first.claim({{"limit", 1}, {"wait_ms", 10'000}}).size(), 1u);
    EXPECT_EQ(number(rule_named(*node, "few"), "max_active"), 3);
    const auto newest = another(revision(3) + limit_of("few", "paused = true"));
    EXPECT_EQ(claimed(*node), 0u) << "there was room, and the pause holds from its commit on";

    restart(older);
    EXPECT_TRUE(node->warns("have revision 1, and the store has revision 3")) << node->log();
    EXPECT_EQ(claimed(*node), 0u);
    const Ended fourth = refused(revision(3) + limit_of("few", "max_active = 4"));
    EXPECT_EQ(fourth.code, 1);
    EXPECT_TRUE(has(fourth.errors, "raise governance.revision")) << fourth.errors;
    EXPECT_TRUE(flag(rule_named(*newest, "few"), "paused"));
}

TEST_F(PostgresGovernance, ANewRuleWakesTheClaimsOfOtherNodes) {
    restart(revision(1) + maintenance_of());
    Api api = api_of(*node);
    api.submit();
    Client waiting(node->port());
    waiting.send(request_text("POST", "/api/v1/leases", api.claim_text({{"wait_ms", 20'000}})));
    EXPECT_FALSE(waiting.receive(Millis(300)));

    const auto newer = another(revision(2));

    const auto answer = waiting.receive();
    ASSERT_TRUE(answer);
    EXPECT_EQ(list(expect_ok(*answer), "leases").size(), 1u);
}

TEST_F(PostgresGovernance, NodesThatStartTogetherAgreeOnTheHigherRevision) {
    for (int round = 1; round <= 3; ++round) {
        std::vector<std::unique_ptr<Node>> nodes;
        for (const int number : {2 * round, 2 * round + 1}) {
            nodes.push_back(std::make_unique<Node>(
                file(revision(number) + limit_of("of " + std::to_string(number), "max_active = 1")),
                store));
        }
        for (const auto& one : nodes) one->serve();
        const Names newest{"of " + std::to_string(2 * round + 1)};
        for (const auto& one : nodes) {
            EXPECT_TRUE(eventually([&] { return rules_of(*one) == newest; })) << round;
        }
        for (const auto& one : nodes) EXPECT_EQ(one->stop(), 0);
    }
}

}  // namespace governance_config_test
}  // namespace sluice::e2e
