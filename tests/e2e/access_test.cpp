// The life of credentials: tokens that are revoked or run out while they are in use, limits, and an
// engine without configuration.
#include <gtest/gtest.h>

#include <csignal>
#include <thread>

#include "domain/values/time.hpp"
#include "e2e/api.hpp"
#include "e2e/guarded_engine.hpp"

namespace sluice::e2e {
namespace access_test {

using namespace std::chrono_literals;

std::string in_a_moment(Millis moment) {
    return to_rfc3339(std::chrono::time_point_cast<Duration>(std::chrono::system_clock::now()) +
                      moment);
}

TEST(Access, ARevokedTokenIsLetInNoMore) {
    GuardedEngine engine;
    const Json token = engine.new_token({{"scopes", List{"orch:read"}}});
    const std::string text_of_it = text(token, "token");
    EXPECT_EQ(engine.get(text_of_it, "/api/v1/jobs").status, 200);

    engine.revoke(token);

    EXPECT_EQ(engine.get(text_of_it, "/api/v1/jobs").status, 401);
    // To revoke the token again changes nothing, and it stays in the list.
    engine.revoke(token);
    const Json tokens = parse(engine.get(engine.admin(), "/api/v1/tokens").body);
    EXPECT_EQ(text(list(tokens, "tokens").at(0), "state"), "revoked");
}

TEST(Access, AStreamEndsWithItsToken) {
    GuardedEngine engine;
    const std::string id =
        text(parse(engine.post(engine.admin(), "/api/v1/jobs", {{"type", "t"}}).body), "id");
    const Json revoked = engine.new_token({{"scopes", List{"orch:read"}}});
    const Json short_lived =
        engine.new_token({{"scopes", List{"orch:read"}}, {"expires_at", in_a_moment(1500ms)}});
    for (const Json& token : {revoked, short_lived}) {
        EventStream stream(engine.port(), "/api/v1/jobs/" + id + "/stream",
                           with_token(text(token, "token")));
        ASSERT_EQ(stream.head().status, 200);
        ASSERT_TRUE(stream.next());
        const auto start = std::chrono::steady_clock::now();
        if (&token == &revoked || text(token, "id") == text(revoked, "id")) engine.revoke(token);
        EXPECT_FALSE(stream.next(8000ms));
        EXPECT_TRUE(stream.ended());
        EXPECT_LT(since(start), 5000ms);
    }
}

TEST(Access, AWaitingClaimGetsNothingAfterItsTokenWasRevoked) {
    GuardedEngine engine;
    const Json token = engine.new_token({{"kind", "worker"}});
    Client waiting(engine.port());
    waiting.send(request_text("POST", "/api/v1/leases", R"({"worker_id":"w","wait_ms":20000})",
                              with_token(text(token, "token"))));
    ASSERT_TRUE(eventually([&] {
        return engine.get(engine.admin(), "/api/v1/workers").body.find(R"("waiting":true)") !=
               std::string::npos;
    }));
    engine.revoke(token);

    const std::string id =
        text(parse(engine.post(engine.admin(), "/api/v1/jobs", {{"type", "t"}}).body), "id");

    const auto answer = waiting.receive();
    ASSERT_TRUE(answer);
    EXPECT_EQ(answer->status, 401) << answer->body;
    EXPECT_TRUE(eventually([&] {
        return text(parse(engine.get(engine.admin(), "/api/v1/jobs/" + id).body), "state") ==
               "queued";
    }));
}

TEST(Access, ALeaseCannotBeGuessed) {
    const TempFolder folder;
    const std::string store = "sqlite:" + (folder.path() / "db").string();
    std::string lease, job, worker;
    {
        GuardedEngine engine("", store);
        worker = engine.token({{"kind", "worker"}});
        job = text(parse(engine.post(engine.admin(), "/api/v1/jobs", {{"type", "t"}}).body), "id");
        const Json claimed =
            parse(engine.post(worker, "/api/v1/leases", {{"worker_id", "w"}}).body);
        lease = text(list(claimed, "leases").at(0), "lease_id");
        // The history shows the numbers of the lease, and not its seal.
        const Json events =
            parse(engine.get(engine.admin(), "/api/v1/jobs/" + job + "/events").body);
        const std::string shown = text(list(events, "events").at(1), "lease_id");
        ASSERT_TRUE(lease.starts_with(shown));
        for (const std::string& guess : {shown, shown + "-" + std::string(32, 'a')}) {
            EXPECT_EQ(engine.post(worker, "/api/v1/leases/" + guess + "/heartbeat", {}).status,
                      404);
            const Response many = engine.post(
                worker, "/api/v1/leases/report",
                {{"reports", List{Fields{{"lease_id", guess}, {"outcome", "succeeded"}}}}});
            EXPECT_EQ(many.status, 422) << many.body;
        }
        EXPECT_EQ(engine.post(worker, "/api/v1/leases/" + lease + "/heartbeat", {}).status, 200);
        EXPECT_EQ(engine.engine().stop(), 0);
    }
    // The token is still good when the engine was started again.
    GuardedEngine engine("", store);
    EXPECT_EQ(engine.post(worker, "/api/v1/leases/" + lease + "/report", {{"outcome", "succeeded"}})
                  .status,
              200);
}

TEST(Access, ProbesTakeNothingFromATenant) {
    GuardedEngine engine("[limits]\nrequests_per_tenant = \"5/h\"\n");
    for (int i = 0; i < 20; ++i) {
        EXPECT_EQ(engine.get("", "/healthz").status, 200);
        EXPECT_EQ(engine.get("", "/readyz").status, 200);
    }
    EXPECT_EQ(engine.get(engine.admin(), "/api/v1/whoami").status, 200);
}

TEST(Access, WhoHasOneTenantHasNoSayInTokensForAll) {
    GuardedEngine engine;
    const Json root = engine.new_token({{"all_tenants", true}, {"scopes", List{"orch:admin"}}});
    const std::string admin = engine.token({{"scopes", List{"orch:admin"}}});
    EXPECT_EQ(engine.post(admin, "/api/v1/tokens/" + text(root, "id") + "/revoke", {}).status, 404);
    EXPECT_EQ(engine.get(admin, "/api/v1/tokens").body.find(text(root, "id")), std::string::npos);
    EXPECT_EQ(engine.get(text(root, "token"), "/api/v1/whoami").status, 200);
    for (const char* name : {"admin", "host", "deploy"}) {
        EXPECT_EQ(
            engine.post(admin, "/api/v1/tokens", {{"name", name}, {"kind", "service"}}).status,
            422);
    }
}

TEST(Access, DeploySecretsCannotBeGuessedForEver) {
    GuardedEngine engine(
        "[deploy]\nshared_secret = \"the-right-one\"\n"
        "[limits]\nbad_tokens_per_address = \"10/min\"\n");
    int slowed = 0;
    for (int i = 0; i < 30; ++i) {
        slowed += engine.get("", "/deploy/jobs", {{"X-DEPLOY-SECRET", "wrong"}}).status == 429;
    }
    EXPECT_GE(slowed, 15);
    EXPECT_EQ(engine.get("", "/deploy/jobs", {{"X-DEPLOY-SECRET", "the-right-one"}}).status, 200);
}

TEST(Access, ADeployPathThatIsShownNothingNamesItsSecret) {
    for (const char* settings : {"", "[deploy]\nshared_secret = \"the-right-one\"\n"}) {
        GuardedEngine engine(settings);
        const Response refused = engine.get("", "/deploy/jobs");
        EXPECT_EQ(refused.status, 401);
        EXPECT_NE(refused.body.find("X-DEPLOY-SECRET"), std::string::npos) << refused.body;
        EXPECT_NE(refused.body.find("Bearer"), std::string::npos) << refused.body;
        EXPECT_EQ(engine.get("", "/api/v1/jobs").body.find("X-DEPLOY-SECRET"), std::string::npos);
    }
}

TEST(Access, TokensOutliveTheEngine) {
    const TempFolder folder;
    const std::string store = "sqlite:" + (folder.path() / "db").string();
    std::string good, gone;
    {
        GuardedEngine engine("", store);
        good = engine.token({{"scopes", List{"orch:read"}}});
        const Json revoked = engine.new_token({{"scopes", List{"orch:read"}}});
        engine.revoke(revoked);
        gone = text(revoked, "token");
        EXPECT_EQ(engine.engine().stop(), 0);
    }
    GuardedEngine engine("", store);
    EXPECT_EQ(engine.get(good, "/api/v1/jobs").status, 200);
    EXPECT_EQ(engine.get(gone, "/api/v1/jobs").status, 401);
}

TEST(Access, AnAdminOfOneTenantMakesTokensForThatOneOnly) {
    GuardedEngine engine;
    const std::string admin = engine.token({{"tenant", "acme"}, {"scopes", List{"orch:admin"}}});

    EXPECT_EQ(engine.post(admin, "/api/v1/tokens", {{"name", "x"}}).status, 201);
    EXPECT_EQ(engine.post(admin, "/api/v1/tokens", {{"name", "x"}, {"tenant", "acme2"}}).status,
              403);
    EXPECT_EQ(engine.post(admin, "/api/v1/tokens", {{"name", "x"}, {"all_tenants", true}}).status,
              403);
    const Json other = engine.new_token({{"tenant", "acme2"}});
    EXPECT_EQ(engine.post(admin, "/api/v1/tokens/" + text(other, "id") + "/revoke", {}).status,
              404);
    const Json tokens = parse(engine.get(admin, "/api/v1/tokens").body);
    for (const Json& token : list(tokens, "tokens")) EXPECT_EQ(text(token, "tenant"), "acme");
}

TEST(Access, WhatACallerMayNotSetIsRefused) {
    GuardedEngine engine;
    const auto refused = [&](const Fields& fields) {
        return engine.post(engine.admin(), "/api/v1/tokens", fields).status;
    };
    EXPECT_EQ(refused({{"name", "x"}, {"id", "1"}}), 422);
    EXPECT_EQ(refused({{"name", "x"}, {"token", "mine"}}), 422);
    EXPECT_EQ(refused({{"name", "x"}, {"secret_hash", "00"}}), 422);
    EXPECT_EQ(refused({{"name", ""}}), 422);
    EXPECT_EQ(refused({{"name", "a\nb"}}), 422);
    EXPECT_EQ(refused({{"name", "x"}, {"scopes", List{"orch:everything"}}}), 422);
    EXPECT_EQ(refused({{"name", "x"}, {"kind", "worker"}, {"scopes", List{"orch:read"}}}), 422);
    EXPECT_EQ(refused({{"name", "x"}, {"kind", "worker"}, {"all_tenants", true}}), 422);
    EXPECT_EQ(refused({{"name", "x"}, {"expires_at", "2020-01-01T00:00:00Z"}}), 422);
    EXPECT_EQ(refused({{"name", "x"}, {"tenant", "@sluice"}}), 422);
    EXPECT_EQ(refused({{"name", "x"}, {"tenant", "acme*"}}), 422) << "rules would take it for many";
    for (const char* field : {"state", "token", "attempt", "created_at", "is_admin"}) {
        const Response response =
            engine.post(engine.admin(), "/api/v1/jobs", {{"type", "t"}, {field, "x"}});
        EXPECT_EQ(response.status, 422) << field;
    }
}

TEST(Access, NamesThatCallersGiveThemselvesAreNotTaken) {
    GuardedEngine engine;
    const Response response =
        engine.get(engine.admin(), "/api/v1/whoami", {{"X-Sluice-User", "admin"}});
    EXPECT_EQ(response.status, 400);
    const std::string in_query = "/api/v1/jobs?token=" + engine.admin();
    EXPECT_EQ(engine.get("", in_query).status, 401);
    EXPECT_EQ(engine.get(engine.admin(), in_query).status, 400);
    Client client(engine.port());
    const auto twice =
        client.get("/api/v1/whoami",
                   {{"Authorization", "Bearer x"}, {"Authorization", "Bearer " + engine.admin()}});
    EXPECT_EQ(twice.status, 400);
}

TEST(Access, WhoGuessesIsSlowedDownAndWhoKnowsIsNot) {
    GuardedEngine engine("[limits]\nbad_tokens_per_address = \"20/min\"\n");
    int refused = 0, slowed = 0;
    for (int i = 0; i < 100; ++i) {
        const Response response = engine.get("guess" + std::to_string(i), "/api/v1/jobs");
        refused += response.status == 401;
        slowed += response.status == 429;
        EXPECT_EQ(response.status == 429, !response.header("Retry-After").empty());
        EXPECT_EQ(engine.get(engine.admin(), "/api/v1/whoami").status, 200);
    }
    EXPECT_GE(refused, 20);
    EXPECT_LE(refused, 23);  // one more comes back every three seconds
    EXPECT_EQ(refused + slowed, 100);
}

TEST(Access, ATenantHasItsShareOfRequests) {
    GuardedEngine engine("[limits]\nrequests_per_tenant = \"50/h\"\n");
    const std::string acme = engine.token({{"tenant", "acme"}, {"scopes", List{"orch:read"}}});
    for (int i = 0; i < 50; ++i) {
        const Response response = engine.get(acme, "/api/v1/jobs");
        ASSERT_EQ(response.status, 200) << i;
        EXPECT_EQ(response.header("RateLimit-Policy"), R"("tenant";q=50;w=3600)");
        EXPECT_TRUE(response.header("RateLimit")
                        .starts_with(R"("tenant";r=)" + std::to_string(49 - i) + ";t="));
    }
    const Response late = engine.get(acme, "/api/v1/jobs");
    EXPECT_EQ(late.status, 429);
    EXPECT_EQ(text(parse(late.body), "code"), "too_many_requests");
    EXPECT_GE(std::stoi(late.header("Retry-After")), 60);
    EXPECT_EQ(engine.get(engine.admin(), "/api/v1/jobs").status, 200);
}

TEST(Access, StreamsAndWaitingClaimsAreCountedByTokenAndTenant) {
    GuardedEngine engine(
        "[limits]\nstreams_per_token = 2\nstreams_per_tenant = 3\nwaiting_claims_per_tenant = 2\n");
    const std::string id =
        text(parse(engine
                       .post(engine.admin(), "/api/v1/jobs",
                             {{"type", "t"}, {"run_after", "2030-01-01T00:00:00Z"}})
                       .body),
             "id");
    const std::string path = "/api/v1/jobs/" + id + "/stream";
    const std::string one = engine.token({{"scopes", List{"orch:read"}}});
    const std::string two = engine.token({{"scopes", List{"orch:read"}}});
    {
        EventStream first(engine.port(), path, with_token(one));
        EventStream second(engine.port(), path, with_token(one));
        EXPECT_EQ(EventStream(engine.port(), path, with_token(one)).head().status, 429);
        EventStream third(engine.port(), path, with_token(two));
        EXPECT_EQ(third.head().status, 200);
        EXPECT_EQ(EventStream(engine.port(), path, with_token(two)).head().status, 429);
    }
    EXPECT_TRUE(eventually(
        [&] { return EventStream(engine.port(), path, with_token(one)).head().status == 200; }));

    const std::string worker = engine.token({{"kind", "worker"}});
    const auto claim = [&](const std::string& name) {
        return request_text("POST", "/api/v1/leases",
                            R"({"wait_ms":20000,"worker_id":")" + name + R"("})",
                            with_token(worker));
    };
    const auto is_waiting = [&](const std::string& name) {
        const Json workers = parse(engine.get(engine.admin(), "/api/v1/workers").body);
        for (const Json& seen : list(workers, "workers")) {
            if (text(seen, "worker_id") == name && flag(seen, "waiting")) return true;
        }
        return false;
    };
    Client first(engine.port()), second(engine.port()), third(engine.port());
    first.send(claim("one"));
    ASSERT_TRUE(eventually([&] { return is_waiting("one"); }));
    second.send(claim("two"));
    ASSERT_TRUE(eventually([&] { return is_waiting("two"); }));
    third.send(claim("three"));
    const auto answer = third.receive();
    ASSERT_TRUE(answer);
    EXPECT_EQ(answer->status, 429) << answer->body;
}

TEST(Access, WithoutATokenTheEngineSaysThatNobodyCanComeIn) {
    Process process(sluice_command({"serve", "--listen", "127.0.0.1:0", "--store", "memory:"}));
    const auto line = process.read_line(20'000ms);
    ASSERT_TRUE(line);
    EXPECT_NE(line->find("no access token yet"), line->npos) << *line;
    ASSERT_TRUE(process.read_line(20'000ms));  // it serves
    process.send_signal(SIGTERM);
    EXPECT_EQ(process.wait(15'000ms), 0);
}

TEST(Access, AnOpenEngineIsForLoopbackOnly) {
    const Ended ended =
        run_sluice({"serve", "--no-auth", "--listen", "0.0.0.0:0", "--store", "memory:"});
    EXPECT_EQ(ended.code, 1);
    EXPECT_NE(ended.errors.find("loopback only"), ended.errors.npos) << ended.errors;
}

TEST(Access, AShortAdminTokenIsRefusedAndNotRepeated) {
    Process process({"/usr/bin/env", "SLUICE_ADMIN_TOKEN=too-short-secret", SLUICE_BINARY, "serve",
                     "--listen", "127.0.0.1:0", "--store", "memory:"});
    EXPECT_EQ(process.wait(15'000ms), 1);
    EXPECT_NE(process.errors().find("SLUICE_ADMIN_TOKEN"), std::string::npos);
    EXPECT_EQ(process.errors().find("too-short-secret"), std::string::npos);
}

}  // namespace access_test
}  // namespace sluice::e2e
