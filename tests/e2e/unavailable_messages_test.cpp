// While the store does not answer, every contract says so in plain words: the store's own message,
// with its statements, tables, hosts and files, is in the engine's log and in no answer.
#include <gtest/gtest.h>
#include <sqlite3.h>

#include "e2e/api.hpp"
#include "e2e/postgres_server.hpp"

namespace sluice::e2e {
namespace unavailable_messages_test {

struct Asked {
    std::string verb;
    std::string path;
    std::string body{};
};

const std::vector<Asked>& writes() {
    static const std::vector<Asked> all{
        {"GET", "/readyz"},
        {"POST", "/api/v1/jobs", R"({"type":"task"})"},
        {"POST", "/api/v1/jobs/batch", R"({"jobs":[{"type":"task"}]})"},
        {"POST", "/api/v1/leases", R"({"worker_id":"w"})"},
        {"POST", "/api/v1/sites", R"({"id":"blog"})"},
        {"POST", "/api/v1/entities", R"({"kind":"site","id":"blog"})"},
        {"POST", "/api/jobs", R"({"action":"task"})"},
        {"POST", "/api/apps", R"({"name":"shop"})"},
        {"POST", "/deploy/jobs", R"({"type":"BUILD_AND_DEPLOY","payload":{"appId":"a"}})"},
        {"POST", "/deploy/jobs/claim", R"({"runnerId":"r","leaseSeconds":30})"},
        {"POST", "/internal/runtime-nodes/heartbeat",
         R"({"nodeName":"n","agentBaseUrl":"http://n","gatewayBaseUrl":"http://n"})"},
    };
    return all;
}

std::vector<Asked> reads(const std::string& id) {
    return {
        {"GET", "/api/v1/jobs"},
        {"GET", "/api/v1/jobs/" + id},
        {"GET", "/api/v1/jobs/" + id + "/events"},
        {"GET", "/api/v1/jobs/" + id + "/logs"},
        {"GET", "/api/v1/jobs/" + id + "/stream"},
        {"GET", "/api/v1/entities?kind=site"},
        {"GET", "/api/v1/sites"},
        {"GET", "/api/jobs"},
        {"GET", "/api/jobs/" + id},
        {"GET", "/api/jobs/" + id + "/stream"},
        {"GET", "/api/apps"},
        {"GET", "/deploy/jobs/by-app?appId=a"},
        {"GET", "/admin/runners/list"},
    };
}

void expect_plain_words(const Asked& asked, const Response& response) {
    const std::string where = asked.verb + " " + asked.path + ": " + response.body;
    EXPECT_EQ(response.status, 503) << where;
    EXPECT_NE(response.header("Retry-After"), "") << where;
    bool is_plain = false;
    for (const char* words : {"the store does not answer; send the same again in a moment",
                              "the store has not taken a commit for seconds",
                              "other requests changed the same in each try, or the connection to "
                              "the store broke; send the same again in a moment"}) {
        is_plain |= response.body.find(words) != std::string::npos;
    }
    EXPECT_TRUE(is_plain) << where;
    for (const char* internal : {"PostgreSQL", "SQLite", "database", "127.0.0.1", "BEGIN", "SELECT",
                                 "relation", "socket", "libpq", "locked", "/tmp"}) {
        EXPECT_EQ(response.body.find(internal), std::string::npos) << internal << " in " << where;
    }
}

// All at once: each waits for the store as long as it has to.
void expect_plain_words(std::uint16_t port, const std::vector<Asked>& all) {
    in_parallel(static_cast<int>(all.size()), [&](int i) {
        const Asked& asked = all[static_cast<std::size_t>(i)];
        Client http(port);
        expect_plain_words(asked,
                           http.request(asked.verb, asked.path, asked.body, {}, Millis(30'000)));
    });
}

TEST(PostgresUnavailable, IsSaidInPlainWordsByEveryContract) {
    const PostgresServer server;
    Engine engine(server.url());
    const std::string id = Api(engine.port(), "q").submit_id();
    server.halt();

    expect_plain_words(engine.port(), writes());
    expect_plain_words(engine.port(), reads(id));

    engine.stop();
    const std::string& log = engine.process().output();
    EXPECT_NE(log.find("requests get 503"), std::string::npos) << log;
    EXPECT_NE(log.find("PostgreSQL"), std::string::npos) << "the log has the server's words" << log;
}

// Another process writes to the file, as a backup that went wrong might.
TEST(SqliteUnavailable, IsSaidInPlainWordsByEveryContract) {
    const TempFolder folder;
    const std::string path = (folder.path() / "db").string();
    Engine engine("sqlite:" + path);
    sqlite3* database = nullptr;
    ASSERT_EQ(sqlite3_open(path.c_str(), &database), SQLITE_OK);
    ASSERT_EQ(sqlite3_exec(database, "BEGIN IMMEDIATE", nullptr, nullptr, nullptr), SQLITE_OK);

    expect_plain_words(engine.port(), writes());

    sqlite3_close(database);
    EXPECT_EQ(Api(engine.port(), "q").try_submit({}).status, 202);
    EXPECT_EQ(engine.stop(), 0);
    EXPECT_NE(engine.process().output().find("locked"), std::string::npos)
        << "the log has the store's words";
}

}  // namespace unavailable_messages_test
}  // namespace sluice::e2e
