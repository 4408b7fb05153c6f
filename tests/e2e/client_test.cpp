// The client library's calls against a real engine.
#include <thread>

#include "e2e/api.hpp"
#include "sluice/client.hpp"
#include "support/scripted_server.hpp"

namespace sluice::e2e {
namespace client_test {

using client::Error;
using client::ErrorKind;
using client::NewJob;
using client::State;
using Clock = std::chrono::steady_clock;

client::Options options_for(std::uint16_t port) {
    client::Options options;
    options.server = "http://127.0.0.1:" + std::to_string(port);
    options.patience = Millis(2000);
    return options;
}

class ClientLibrary : public testing::Test {
  protected:
    ClientLibrary()
        : engine(shared_engine("memory")),
          api(engine.port(), fresh_name("queue")),
          library(options_for(engine.port())) {}

    NewJob job(const std::string& payload = "null") {
        NewJob wanted;
        wanted.type = "task";
        wanted.queue = api.queue();
        wanted.payload = payload;
        return wanted;
    }

    Engine& engine;
    Api api;
    client::Client library;
};

// The error that a call ends with.
template <class Call>
Error error_of(Call call) {
    try {
        call();
    } catch (const Error& error) {
        return error;
    }
    ADD_FAILURE() << "it was not refused";
    return {ErrorKind::usage, 0, "", ""};
}

TEST_F(ClientLibrary, SubmitsWithEveryField) {
    NewJob wanted = job("{\"a\" : [1,  2.50]}");
    wanted.project = "p";
    wanted.priority = 7;
    wanted.delay = Millis(60'000);
    wanted.timeout = Millis(5000);
    wanted.max_attempts = 4;
    wanted.entity_type = "order";
    wanted.entity_id = "17";
    wanted.site_id = fresh_name("site");
    wanted.node_id = fresh_name("node");
    wanted.exclusive_keys = {fresh_name("key")};
    wanted.labels = {"gpu"};
    wanted.depends_on = {library.submit(job()).id};
    wanted.source = "test";
    wanted.correlation_id = "ü \"quoted\"";

    const client::Job accepted = library.submit(wanted);
    const client::Job read = library.get(accepted.id);

    EXPECT_EQ(read.json, accepted.json);
    EXPECT_EQ(read.payload, wanted.payload);
    EXPECT_EQ(read.project, "p");
    EXPECT_EQ(read.queue, api.queue());
    EXPECT_EQ(read.priority, 7);
    EXPECT_GT(*read.run_after, *read.created_at + Millis(59'000));
    EXPECT_EQ(read.timeout, Millis(5000));
    EXPECT_EQ(read.max_attempts, 4);
    EXPECT_EQ(read.entity_id, "17");
    EXPECT_EQ(read.node_id, wanted.node_id);
    EXPECT_EQ(read.labels, wanted.labels);
    EXPECT_EQ(read.depends_on, wanted.depends_on);
    EXPECT_EQ(read.correlation_id, wanted.correlation_id);
}

TEST_F(ClientLibrary, SubmitsManyOrNone) {
    std::vector<NewJob> jobs{job("1"), job("2")};
    jobs[1].depends_on = {"#0"};

    const auto accepted = library.submit(jobs);
    ASSERT_EQ(accepted.size(), 2u);
    EXPECT_EQ(accepted[1].depends_on, std::vector<std::string>{accepted[0].id});
    EXPECT_TRUE(library.submit(std::vector<NewJob>{}).empty());

    jobs[1].type = "";
    EXPECT_EQ(error_of([&] { library.submit(jobs); }).pointer(), "/jobs/1/type");
}

TEST_F(ClientLibrary, SubmitsOncePerKey) {
    NewJob wanted = job();
    wanted.idempotency_key = fresh_name("key");

    EXPECT_EQ(library.submit(wanted).id, library.submit(wanted).id);
    EXPECT_NE(library.submit(job()).id, library.submit(job()).id);
    wanted.payload = "2";
    EXPECT_EQ(error_of([&] { library.submit(wanted); }).code(), "idempotency_key_reused");
    wanted.idempotency_key = "a\"b";
    EXPECT_EQ(error_of([&] { library.submit(wanted); }).kind(), ErrorKind::usage);
}

TEST_F(ClientLibrary, ListsPageByPage) {
    for (int i = 0; i < 5; ++i) library.submit(job(std::to_string(i)));
    client::JobQuery query{{{"queue", api.queue()}, {"state", "queued,running"}}, 2, ""};
    std::string payloads;
    int pages = 0;

    do {
        const client::JobPage page = library.list(query);
        for (const client::Job& listed : page.jobs) payloads += listed.payload;
        query.cursor = page.next_cursor;
        EXPECT_EQ(list(parse(page.json), "jobs").size(), page.jobs.size());
        ++pages;
    } while (!query.cursor.empty());

    EXPECT_EQ(payloads, "43210");
    EXPECT_EQ(pages, 3);
    query.filters.emplace_back("no such", "filter");
    EXPECT_EQ(error_of([&] { library.list(query); }).status(), 400);
}

TEST_F(ClientLibrary, CancelsAndReplays) {
    const std::string id = library.submit(job("\"x\"")).id;

    EXPECT_EQ(error_of([&] { library.replay(id); }).code(), "conflict");
    EXPECT_EQ(library.cancel(id, "no need").state, State::canceled);
    EXPECT_EQ(library.cancel(id).state, State::canceled);
    const client::Job again = library.replay(id, "once more");
    EXPECT_EQ(again.replay_of, id);
    EXPECT_EQ(again.payload, "\"x\"");
    EXPECT_NE(library.replay(id).id, again.id);
}

TEST_F(ClientLibrary, TellsWhatHappenedAndWhy) {
    const std::string id = library.submit(job()).id;
    const client::Explanation waiting = library.explain(id);
    const Json lease = api.claim_one({{"worker_id", "w-" + api.queue()}});
    expect_ok(api.log(lease, {Fields{{"message", "one"}, {"level", "warn"}},
                              Fields{{"message", "two"}, {"data", List{1}}}}));

    ASSERT_FALSE(waiting.reasons.empty());
    EXPECT_EQ(waiting.state, State::queued);
    EXPECT_EQ(library.explain(id).state, State::running);
    const auto lines = library.logs(id);
    ASSERT_EQ(lines.size(), 2u);
    EXPECT_EQ(lines[0].level, client::Level::warn);
    EXPECT_EQ(lines[1].data, "[1]");
    EXPECT_EQ(library.logs(id, 1).size(), 1u);
    EXPECT_EQ(library.logs(id, 0, 1).size(), 1u);
    const auto events = library.events(id);
    ASSERT_EQ(events.size(), 2u);
    EXPECT_EQ(events[1].to, "running");
    EXPECT_EQ(library.events(id, 1).size(), 1u);
    bool seen = false;
    for (const client::WorkerSeen& worker : library.workers()) {
        if (worker.worker_id != "w-" + api.queue()) continue;
        seen = true;
        EXPECT_EQ(worker.jobs, std::vector<std::string>{id});
    }
    EXPECT_TRUE(seen);
}

TEST_F(ClientLibrary, SaysWhatWasWrong) {
    const Error absent = error_of([&] { library.get("6af930d6039a000000000000"); });
    EXPECT_EQ(absent.kind(), ErrorKind::refused);
    EXPECT_EQ(absent.status(), 404);
    EXPECT_EQ(absent.code(), "not_found");

    NewJob wanted = job();
    wanted.max_attempts = 5000;
    const Error invalid = error_of([&] { library.submit(wanted); });
    EXPECT_EQ(invalid.status(), 422);
    EXPECT_EQ(invalid.pointer(), "/max_attempts");
    EXPECT_STREQ(invalid.what(), "max_attempts: must be between 1 and 1000");

    const std::string id = library.submit(job()).id;
    expect_ok(api.succeed(api.claim_one()));
    EXPECT_EQ(error_of([&] { library.cancel(id); }).status(), 409);
    EXPECT_EQ(error_of([&] { library.get(""); }).kind(), ErrorKind::usage);
    EXPECT_EQ(error_of([&] { library.get("../jobs"); }).kind(), ErrorKind::refused);
}

TEST_F(ClientLibrary, ActsForItsTenant) {
    client::Options options = options_for(engine.port());
    options.tenant = fresh_name("tenant");
    client::Client other(options);

    const client::Job theirs = other.submit(job());
    const client::Job ours = library.submit(job());

    EXPECT_EQ(theirs.tenant, options.tenant);
    EXPECT_EQ(other.list().jobs.size(), 1u);
    EXPECT_EQ(error_of([&] { other.get(ours.id); }).status(), 404);
    EXPECT_EQ(other.logs(theirs.id).size(), 0u);
    EXPECT_EQ(error_of([&] { other.cancel(ours.id); }).status(), 404);
}

TEST_F(ClientLibrary, ShowsRequestsInPlaceOfSendingThem) {
    client::Options options = options_for(engine.port());
    options.token = "secret";
    client::Client shown(options);
    std::vector<client::Request> seen;
    shown.show_requests([&](const client::Request& request) { seen.push_back(request); });

    EXPECT_THROW(shown.submit(job("{}")), client::RequestShown);
    EXPECT_THROW(shown.follow("x", 0, {}), client::RequestShown);
    EXPECT_THROW(shown.wait("x"), client::RequestShown);
    ASSERT_EQ(seen.size(), 3u);
    EXPECT_EQ(seen[0].method, "POST");
    EXPECT_EQ(seen[0].url, options.server + "/api/v1/jobs");
    EXPECT_NE(seen[0].body.find("\"payload\":{}"), std::string::npos);
    EXPECT_EQ(seen[1].url, options.server + "/api/v1/jobs/x/stream");
    const std::pair<std::string, std::string> token{"Authorization", "Bearer secret"};
    EXPECT_NE(std::find(seen[0].headers.begin(), seen[0].headers.end(), token),
              seen[0].headers.end());
}

TEST_F(ClientLibrary, MakesAnyOtherCall) {
    EXPECT_NE(library.call("GET", "/healthz", "", true), "");
    EXPECT_EQ(error_of([&] { library.call("POST", "/api/v1/nowhere", "{}", false); }).status(),
              404);
    EXPECT_EQ(error_of([&] { library.call("GET", "healthz", "", true); }).kind(), ErrorKind::usage);
}

TEST_F(ClientLibrary, ServesManyThreads) {
    in_parallel(8, [&](int) {
        for (int i = 0; i < 20; ++i) EXPECT_EQ(library.get(library.submit(job()).id).attempt, 0);
    });
}

TEST(ClientLibraryAlone, RefusesAnAddressThatIsNone) {
    for (const char* server : {"", "localhost:7070", "ftp://host", "http://host?x=1"}) {
        client::Options options;
        options.server = server;
        EXPECT_EQ(error_of([&] { client::Client refused(options); }).kind(), ErrorKind::usage)
            << server;
    }
}

TEST(ClientLibraryAlone, WaitsForAnEngineOnlyAsLongAsItsPatience) {
    client::Options options = options_for(1);
    options.patience = Millis(300);
    client::Client library(options);
    const auto start = Clock::now();

    const Error error = error_of([&] { library.get("x"); });

    EXPECT_EQ(error.kind(), ErrorKind::unreachable);
    EXPECT_NE(std::string(error.what()).find("http://127.0.0.1:1"), std::string::npos);
    EXPECT_GT(since(start), Millis(100));
    EXPECT_LT(since(start), Millis(1500));
}

TEST(ClientLibraryAlone, NoticesWhatIsNotAnEngine) {
    const auto html = [](const std::string& request) {
        if (request.starts_with("GET /api/v1/jobs/moved")) {
            return client::answer_text("302 Found", "Location: https://example.org/\r\n", "");
        }
        if (request.starts_with("GET /api/v1/jobs/absent")) {
            return client::answer_text("404 Not Found", "Content-Type: text/html\r\n", "<html>");
        }
        return client::answer_text("200 OK", "Content-Type: text/html\r\n", "<html>hello</html>");
    };
    client::ScriptedServer server(html);
    client::Client library(options_for(static_cast<std::uint16_t>(server.port())));
    const auto start = Clock::now();

    for (const Error& error :
         {error_of([&] { library.get("any"); }), error_of([&] { library.get("moved"); }),
          error_of([&] { library.get("absent"); }), error_of([&] { library.list(); }),
          error_of([&] { library.follow("any", 0, {}); })}) {
        EXPECT_EQ(error.kind(), ErrorKind::unreachable);
        EXPECT_EQ(error.code(), "not_an_engine");
        EXPECT_NE(std::string(error.what()).find("is not a Sluice engine"), std::string::npos);
    }
    EXPECT_LT(since(start), Millis(1500));
}

TEST(ClientLibraryAlone, RepeatsTheSameSubmitWhileTheEngineIsBusy) {
    Engine& engine = shared_engine("memory");
    std::atomic<int> count = 0;
    client::ScriptedServer busy([&](const std::string&) {
        return ++count < 3 ? client::answer_text("503 Busy", "Retry-After: 0\r\n", "")
                           : client::answer_text("422 No", "", R"({"code":"invalid"})");
    });
    client::Client library(options_for(static_cast<std::uint16_t>(busy.port())));
    NewJob job;
    job.type = "task";

    EXPECT_EQ(error_of([&] { library.submit(job); }).status(), 422);
    const auto requests = busy.requests();
    ASSERT_EQ(requests.size(), 3u);
    EXPECT_EQ(requests[0], requests[1]);
    EXPECT_EQ(requests[1], requests[2]);
    EXPECT_NE(requests[0].find("Idempotency-Key: \""), std::string::npos);
    EXPECT_TRUE(engine.is_running());
}

TEST(ClientLibraryAlone, CanBeInterrupted) {
    client::ScriptedServer silent([](const std::string&) { return ""; });
    client::Client library(options_for(static_cast<std::uint16_t>(silent.port())));
    const auto start = Clock::now();
    std::thread other([&] {
        eventually([&] { return !silent.requests().empty(); });
        library.interrupt();
    });

    EXPECT_EQ(error_of([&] { library.get("x"); }).kind(), ErrorKind::unreachable);
    other.join();
    EXPECT_EQ(error_of([&] { library.get("x"); }).code(), "interrupted");
    EXPECT_LT(since(start), Millis(1500));
}

}  // namespace client_test
}  // namespace sluice::e2e
