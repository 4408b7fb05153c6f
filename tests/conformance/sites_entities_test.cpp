// The native API of entities: of every kind, sites, environments and nodes.
#include "conformance/sites.hpp"

namespace sluice::e2e {
namespace sites_entities_test {

class SitesEntities : public SitesTest {};

TEST_F(SitesEntities, AreCreatedReadAndChanged) {
    serve();

    const Response created =
        post("/api/v1/entities",
             {{"kind", "site"}, {"id", "my shop"}, {"attributes", {{"title", "Shop"}}}});
    const Json site = expect_ok(created, 201);
    EXPECT_EQ(created.header("Location"), "/api/v1/entities/site/my%20shop");
    EXPECT_EQ(text(site, "state"), "active");
    EXPECT_EQ(number(site, "revision"), 1);
    EXPECT_TRUE(is_null(site, "parent"));

    const Json changed =
        expect_ok(post("/api/v1/entities/site/my%20shop",
                       {{"attributes", {{"title", nullptr}, {"plan", {{"seats", 5}}}}}}));
    EXPECT_EQ(at(changed, "attributes"), (Fields{{"plan", {{"seats", 5}}}}));
    EXPECT_EQ(number(changed, "revision"), 2);
    Json read = api().get("/api/v1/sites/my%20shop");
    EXPECT_EQ(at(read, "attributes"), at(changed, "attributes"));
    EXPECT_EQ(text(read, "updated_at"), text(changed, "updated_at"));
}

TEST_F(SitesEntities, GetAnIdWhenTheyBringNone) {
    serve();

    const Json site = expect_ok(post("/api/v1/sites", {}), 201);

    EXPECT_EQ(text(site, "id").size(), 24u);
    EXPECT_EQ(text(entity("site", text(site, "id")), "kind"), "site");
}

TEST_F(SitesEntities, RefuseWhatCannotBe) {
    serve();
    expect_ok(post("/api/v1/sites", {{"id", "shop"}}), 201);

    expect_refused(post("/api/v1/sites", {{"id", "shop"}}), 409, "conflict", "/id");
    expect_refused(post("/api/v1/entities", {{"id", "x"}}), 422, "invalid", "/kind");
    expect_refused(post("/api/v1/entities", {{"kind", "stie"}}), 422, "invalid", "/kind");
    expect_refused(post("/api/v1/sites", {{"kind", "site"}}), 422, "invalid", "/kind");
    expect_refused(post("/api/v1/sites", {{"attributes", List{}}}), 422, "invalid", "/attributes");
    expect_refused(post("/api/v1/sites", {{"id", "a\nb"}}), 422, "invalid", "/id");
    for (const char* id : {"", "a/c", ".", ".."}) {
        expect_refused(post("/api/v1/sites", {{"id", id}}), 422, "invalid", "/id");
        expect_refused(post("/api/v1/jobs", {{"type", "env_deploy"}, {"site_id", id}}), 422,
                       "invalid", "/site_id");
    }
    expect_refused(post("/api/v1/jobs", {{"type", "env_create"},
                                         {"node_id", "n"},
                                         {"site_id", "shop"},
                                         {"entity_type", "environment"},
                                         {"entity_id", "a/c"}}),
                   422, "invalid", "/entity_id");
    expect_refused(post("/api/v1/sites",
                        {{"attributes",
                          {{"x", std::string(150'000, 'x')}, {"y", std::string(150'000, 'y')}}}}),
                   413, "too_large", "/attributes");
    expect_refused(post("/api/v1/entities/site/shop", {}), 422, "invalid", "/action");
    expect_refused(post("/api/v1/entities/site/shop", {{"action", "fly"}}), 422, "invalid",
                   "/action");
    expect_refused(post("/api/v1/entities/site/none", {{"action", "reset"}}), 404, "not_found");
    expect_refused(api().http.get("/api/v1/entities/site/none"), 404, "not_found");
    const Response unknown = api().http.get("/api/v1/entities/stie/shop");
    expect_refused(unknown, 404, "not_found");
    EXPECT_NE(text(parse(unknown.body), "detail").find("did you mean \"site\"?"),
              std::string::npos);
    expect_refused(api().http.get("/api/v1/entities?kind=stie"), 422, "invalid");
    expect_refused(api().http.get("/api/v1/entities?colour=red"), 400, "malformed");
    expect_refused(api().http.get("/api/v1/sites?cursor=abc"), 400, "malformed");
    EXPECT_EQ(number(entity("site", "shop"), "revision"), 1) << "nothing was half done";
}

TEST_F(SitesEntities, AreListedByKindParentStateAndPage) {
    serve();
    for (int i = 0; i < 5; ++i) {
        expect_ok(post("/api/v1/sites",
                       {{"id", "s-" + std::to_string(i)}, {"parent", i < 3 ? "acme" : "other"}}),
                  201);
    }
    expect_ok(post("/api/v1/environments", {{"id", "e-1"}, {"parent", "acme"}}), 201);
    fail_for_good("s-1");
    const auto ids = [&](const std::string& query) {
        std::string all;
        for (const Json& one : list(api().get("/api/v1/entities?" + query), "entities")) {
            all += (all.empty() ? "" : " ") + text(one, "id");
        }
        return all;
    };

    EXPECT_EQ(ids("kind=site"), "s-4 s-3 s-2 s-1 s-0");
    EXPECT_EQ(ids("parent=acme"), "e-1 s-2 s-1 s-0");
    EXPECT_EQ(ids("kind=site&state=failed"), "s-1");
    EXPECT_EQ(ids("kind=site&state=failed,active&parent=acme"), "s-2 s-1 s-0");
    EXPECT_EQ(ids("tenant=other"), "");

    std::string paged;
    std::string cursor;
    int pages = 0;
    do {
        const Json page =
            api().get("/api/v1/sites?limit=2" + (cursor.empty() ? "" : "&cursor=" + cursor));
        for (const Json& site : list(page, "sites")) paged += text(site, "id") + " ";
        cursor = text(page, "next_cursor");
        ++pages;
    } while (!cursor.empty());
    EXPECT_EQ(paged, "s-4 s-3 s-2 s-1 s-0 ");
    EXPECT_EQ(pages, 3);
}

TEST_F(SitesEntities, OfOneTenantAreNotSeenByAnother) {
    serve();
    expect_ok(post("/api/v1/sites", {{"id", "shop"}, {"tenant", "acme"}}), 201);

    EXPECT_EQ(api().http.get("/api/v1/sites/shop").status, 404);
    EXPECT_EQ(text(api().get("/api/v1/sites/shop?tenant=acme"), "tenant"), "acme");
    expect_refused(post("/api/v1/entities/site/shop", {{"attributes", {{"a", 1}}}}), 404,
                   "not_found");
    expect_ok(post("/api/v1/entities/site/shop?tenant=acme", {{"attributes", {{"a", 1}}}}));
}

TEST_F(SitesEntities, NodesAreRecordsThatAdminsKeep) {
    serve("admins = [\"ada\"]");
    const Fields node{{"id", "n-1"},
                      {"attributes",
                       {{"hostname", "n-1.example.com"},
                        {"port", 2222},
                        {"user", "deploy"},
                        {"key_file", "/etc/keys/n-1"}}}};

    expect_refused(post("/api/v1/nodes", node, as("eve")), 403, "forbidden");
    expect_ok(post("/api/v1/nodes", node, as("ada")), 201);
    expect_refused(post("/api/v1/nodes", {{"id", "n-2"}}), 422, "invalid", "/attributes/hostname");
    expect_refused(post("/api/v1/entities/node/n-1", {{"attributes", {{"port", 70000}}}}), 422,
                   "invalid", "/attributes/port");
    expect_refused(
        post("/api/v1/entities/node/n-1", {{"attributes", {{"hostname", "x"}}}}, as("eve")), 403,
        "forbidden");

    EXPECT_EQ(number(at(api().get("/api/v1/nodes/n-1"), "attributes"), "port"), 2222);
    EXPECT_EQ(list(api().get("/api/v1/nodes"), "nodes").size(), 1u);
}

TEST_F(SitesEntities, OfAppsAreReadHereButChangedByAdminsOnly) {
    serve("admins = [\"ada\"]");
    expect_ok(post("/api/v1/entities", {{"kind", "app"}, {"id", "billing"}}, as("ada")), 201);

    expect_refused(post("/api/v1/entities", {{"kind", "app"}, {"id", "mine"}}, as("eve")), 403,
                   "forbidden");
    expect_refused(post("/api/v1/entities/app/billing", {{"action", "archive"}}, as("eve")), 403,
                   "forbidden");
    expect_refused(post("/api/v1/environments", {{"id", "prod"}, {"parent", "billing"}}, as("eve")),
                   403, "forbidden");
    EXPECT_EQ(text(entity("app", "billing"), "state"), "active");
    expect_ok(post("/api/v1/environments", {{"id", "prod"}, {"parent", "shop"}}, as("eve")), 201);
}

TEST_F(SitesEntities, HaveAHistoryThatSaysWhoAndWhen) {
    serve("admins = [\"ada\"]");
    expect_ok(post("/api/v1/sites", {{"id", "shop"}}, as("eve")), 201);
    fail_for_good("shop");
    expect_ok(post("/api/v1/sites/shop/reset", {}, as("ada")));

    const Json page = api().get("/api/v1/entities/site/shop/events?limit=3");
    const List first = list(page, "events");
    ASSERT_EQ(first.size(), 3u);
    EXPECT_EQ(text(first[0], "actor"), "user:eve");
    EXPECT_EQ(text(first[1], "action"), "deploy");
    EXPECT_EQ(text(first[2], "to"), "failed");
    const List rest = list(api().get("/api/v1/entities/site/shop/events?after=" +
                                     std::to_string(number(page, "next_after"))),
                           "events");
    ASSERT_EQ(rest.size(), 1u);
    EXPECT_EQ(text(rest[0], "action"), "reset");
    EXPECT_EQ(text(rest[0], "actor"), "user:ada");
}

TEST_F(SitesEntities, AreWatchedAsTheyMove) {
    serve();
    expect_ok(post("/api/v1/sites", {{"id", "shop"}}), 201);
    EventStream stream(engine().port(), "/api/v1/entities/site/shop/stream");

    const auto present = stream.next();
    ASSERT_TRUE(present);
    EXPECT_EQ(present->type, "state");
    EXPECT_EQ(text(parse(present->data), "to"), "active");
    const Json lease = start("env_deploy", "shop");
    const auto deploying = stream.next();
    ASSERT_TRUE(deploying);
    EXPECT_EQ(text(parse(deploying->data), "to"), "deploying");
    EXPECT_EQ(text(parse(deploying->data), "job_id"), job_of(lease));
    expect_ok(api().succeed(lease));
    EXPECT_EQ(text(parse(stream.next()->data), "to"), "active");

    EventStream resumed(engine().port(), "/api/v1/entities/site/shop/stream",
                        {{"Last-Event-ID", present->id}});
    EXPECT_EQ(resumed.next()->id, deploying->id);
    EXPECT_EQ(text(parse(resumed.next()->data), "action"), "done");
    EXPECT_EQ(EventStream(engine().port(), "/api/v1/entities/site/none/stream").head().status, 404);
}

TEST_F(SitesEntities, AreReachedByTheCommandLine) {
    serve();
    const std::string server = "http://127.0.0.1:" + std::to_string(engine().port());
    const auto sluice = [&](std::vector<std::string> words) {
        for (const char* word : {"--server", server.c_str(), "--json"}) words.emplace_back(word);
        return run_sluice(words);
    };

    EXPECT_EQ(sluice({"entity", "create", "site", "shop", "--set", "title=Shop"}).code, 0);
    const Ended changed = sluice({"entity", "act", "site", "shop", "--set", "seats=5"});
    EXPECT_EQ(at(parse(changed.output), "attributes"), (Fields{{"seats", 5}, {"title", "Shop"}}));
    fail_for_good("shop");
    const Ended failed = sluice({"entity", "list", "--kind", "site", "--state", "failed"});
    EXPECT_EQ(list(parse(failed.output), "entities").size(), 1u);
    EXPECT_EQ(sluice({"site", "reset", "shop"}).code, 0);
    EXPECT_EQ(text(parse(sluice({"entity", "get", "site", "shop"}).output), "state"), "active");
    EXPECT_NE(sluice({"site", "reset", "shop"}).code, 0);
}

}  // namespace sites_entities_test
}  // namespace sluice::e2e
