// `sluice token … --store`: without an engine, or beside engines.
#include <gtest/gtest.h>

#include "e2e/guarded_engine.hpp"
#include "e2e/token_support.hpp"
#include "support/postgres.hpp"

namespace sluice::e2e {
namespace token_store_test {

using std::chrono::steady_clock;

std::string created_on(const std::string& store, Words words) {
    words.insert(words.begin(), {"token", "create"});
    words.insert(words.end(), {"--store", store});
    const Ended ended = run_sluice(words);
    EXPECT_EQ(ended.code, 0) << ended.errors;
    return ended.output.substr(0, ended.output.find('\n'));
}

int status_for(std::uint16_t port, const std::string& token) {
    return Client(port).get("/api/v1/whoami", with_token(token)).status;
}

TEST(SqliteTokens, TheFirstIsMadeOnTheStoreBeforeAnEngineUsesIt) {
    const TempFolder folder;
    const std::string store = "sqlite:" + (folder.path() / "new" / "store.db").string();
    const std::string admin = created_on(store, {"root", "--scope", "orch:admin", "--all-tenants"});
    const Ended listed = run_sluice({"token", "list", "--store", store});
    EXPECT_TRUE(has(listed.output, "service:host")) << listed.output;
    expect_untold(listed, admin);

    Engine engine(Engine::Guarded{}, store, {}, {});
    EXPECT_EQ(status_for(engine.port(), admin), 200);

    const Ended refused = run_sluice({"token", "create", "second", "--store", store});
    EXPECT_EQ(refused.code, 6);
    EXPECT_TRUE(has(refused.errors, "--server")) << refused.errors;
    EXPECT_EQ(run_sluice({"token", "list", "--store", store}).code, 0);  // to read does no harm

    EXPECT_EQ(engine.stop(), 0);
    EXPECT_EQ(run_sluice({"token", "revoke", "--name", "root", "--store", store}).code, 0);
    Engine again(Engine::Guarded{}, store, {}, {});
    EXPECT_EQ(status_for(again.port(), admin), 401);
}

TEST(SqliteTokens, MistakesOnTheStoreHaveTheSameExitCodesAsOnAnEngine) {
    const TempFolder folder;
    const std::string store = "sqlite:" + (folder.path() / "store.db").string();
    const auto code = [&](Words words) {
        words.insert(words.begin(), "token");
        words.insert(words.end(), {"--store", store});
        return run_sluice(words).code;
    };
    EXPECT_EQ(code({"create", "a", "--kind", "worker", "--scope", "orch:read"}), 2);
    EXPECT_EQ(code({"create", "a", "--tenant", "@sluice"}), 2);
    EXPECT_EQ(code({"create", "a"}), 0);
    EXPECT_EQ(code({"revoke", "65f0000000000000deadbeef"}), 5);
    EXPECT_EQ(run_sluice({"token", "create", "a", "--store", "memory:"}).code, 2);
}

TEST(SqliteTokens, DoctorSaysWhenNobodyCanComeIn) {
    const TempFolder folder;
    const std::string store = "sqlite:" + (folder.path() / "store.db").string();
    const auto doctor = [&] {
        return run_sluice({"doctor", "--store", store, "--listen", "127.0.0.1:1"}).output;
    };
    const std::string advice = "--all-tenants --store " + store + ", and start it again";
    EXPECT_TRUE(has(doctor(), "nobody can come in")) << doctor();
    EXPECT_TRUE(has(doctor(), advice)) << doctor();
    const Ended in_memory = run_sluice({"doctor", "--store", "memory:"});
    EXPECT_FALSE(has(in_memory.output, "token create")) << in_memory.output;
    EXPECT_TRUE(has(in_memory.output, "SLUICE_ADMIN_TOKEN_FILE")) << in_memory.output;
    created_on(store, {"root", "--scope", "orch:admin", "--all-tenants", "--expires", "5d"});
    EXPECT_TRUE(has(doctor(), "1 access tokens")) << doctor();
    EXPECT_TRUE(has(doctor(), "expire within two weeks: root")) << doctor();
    Process with_first(
        in_environment({"SLUICE_ADMIN_TOKEN=" + std::string(40, 'x')},
                       {SLUICE_BINARY, "doctor", "--store", store, "--listen", "127.0.0.1:1"}));
    const Ended ended = run_to_end(with_first);
    EXPECT_TRUE(has(ended.output, "first admin token is still set")) << ended.output;
    expect_untold(ended, std::string(40, 'x'));
}

TEST(PostgresTokens, AreMadeAndRevokedBesideRunningEnginesWhichSeeItWithinFiveSeconds) {
    const std::string store = fresh_database();
    const std::string admin = created_on(store, {"root", "--scope", "orch:admin", "--all-tenants"});
    Engine one(Engine::Guarded{}, store, {}, {});
    Engine two(Engine::Guarded{}, store, {"--config", "/dev/null"}, {});
    const std::string token = created_on(store, {"ada"});
    const std::string other = created_on(store, {"bob"});
    for (Engine* engine : {&one, &two}) {
        EXPECT_EQ(status_for(engine->port(), admin), 200);
        EXPECT_EQ(status_for(engine->port(), token), 200);
        EXPECT_EQ(status_for(engine->port(), other), 200);
    }

    // On the other engine, while the token is in use here all the time.
    const auto expect_shut_out = [&](const std::string& revoked, Engine& engine) {
        const auto start = steady_clock::now();
        EXPECT_TRUE(eventually([&] { return status_for(engine.port(), revoked) == 401; }));
        EXPECT_LT(since(start), Millis(5'000));
    };
    const Response response =
        Client(one.port())
            .post("/api/v1/tokens/" + token.substr(4, 24) + "/revoke", "{}", with_token(admin));
    EXPECT_EQ(response.status, 200) << response.body;
    expect_shut_out(token, two);
    expect_shut_out(token, one);

    EXPECT_EQ(run_sluice({"token", "revoke", "--name", "bob", "--store", store}).code, 0);
    expect_shut_out(other, two);
    expect_shut_out(other, one);
    EXPECT_EQ(status_for(two.port(), admin), 200);
}

}  // namespace token_store_test
}  // namespace sluice::e2e
