// The client library follows jobs and waits for them, also when the engine goes away meanwhile.
#include <atomic>
#include <thread>

#include "e2e/api.hpp"
#include "sluice/client.hpp"
#include "support/scripted_server.hpp"

namespace sluice::e2e {
namespace client_follow_test {

using client::Error;
using client::State;
using client::Update;
using Clock = std::chrono::steady_clock;

client::Options options_for(std::uint16_t port) {
    client::Options options;
    options.server = "http://127.0.0.1:" + std::to_string(port);
    return options;
}

// "status" updates by their state, log lines by their message.
struct Story {
    std::vector<std::string> told{};
    std::vector<std::int64_t> positions{};

    std::function<bool(const Update&)> listener() {
        return [this](const Update& update) {
            told.push_back(update.line ? update.line->message
                                       : std::string(to_text(update.status->state)));
            positions.push_back(update.position);
            return true;
        };
    }
};

Fields line(const std::string& message) {
    return {{"message", message}};
}

ON_EACH_STORE(ClientFollow);

TEST_P(ClientFollow, TellsEverythingInOrderToTheEnd) {
    client::Client library(options_for(engine.port()));
    const std::string id = api.submit_id({{"backoff", "none"}});
    std::thread worker([&, port = engine.port(), queue = api.queue()] {
        Api other(port, queue);
        Json lease = other.claim_one();
        expect_ok(other.log(lease, {line("a"), line("b\nc")}));
        expect_ok(other.fail(lease));
        lease = other.claim_one();
        expect_ok(other.log(lease, {line("d")}));
        expect_ok(other.succeed(lease));
    });
    Story story;

    EXPECT_TRUE(library.follow(id, 0, story.listener()));
    worker.join();

    const std::vector<std::string> expected{"queued", "running", "a", "b\nc",
                                            "queued", "running", "d", "succeeded"};
    EXPECT_EQ(story.told, expected);
    for (std::size_t i = 0; i < story.told.size(); ++i) {
        Story rest;
        EXPECT_TRUE(library.follow(id, story.positions[i], rest.listener()));
        EXPECT_EQ(rest.told,
                  std::vector<std::string>(expected.begin() + static_cast<std::ptrdiff_t>(i) + 1,
                                           expected.end()));
    }
}

TEST_P(ClientFollow, EndsWhenItsListenerHasHeardEnough) {
    client::Client library(options_for(engine.port()));
    const std::string id = api.submit_id();
    int count = 0;

    EXPECT_FALSE(library.follow(id, 0, [&](const Update&) { return ++count < 1; }));
    EXPECT_EQ(count, 1);
    const auto start = Clock::now();
    EXPECT_FALSE(library.follow(
        id, 0, [](const Update&) { return true; }, [&] { return since(start) < Millis(100); }));
    EXPECT_LT(since(start), Millis(1500));
    const auto complain = [](const Update&) -> bool {
        throw Error(client::ErrorKind::unreachable, 0, "mine", "mine");
    };
    EXPECT_THROW(library.follow(id, 0, complain), Error);
    EXPECT_THROW(library.follow("6af930d6039a000000000000", 0, complain), Error);
}

TEST_P(ClientFollow, WaitsForTheEnd) {
    client::Client library(options_for(engine.port()));
    const std::string id = api.submit_id();
    const auto start = Clock::now();
    EXPECT_EQ(library.wait(id, Millis(0)), std::nullopt);
    EXPECT_EQ(library.wait(id, Millis(150)), std::nullopt);
    EXPECT_GE(since(start), Millis(150));
    EXPECT_LT(since(start), Millis(1500));

    std::thread worker([port = engine.port(), queue = api.queue()] {
        Api other(port, queue);
        const Json lease = other.claim_one();
        expect_ok(other.log(lease, {line("a"), line("b")}));
        expect_ok(other.report(lease, {{"outcome", "succeeded"}, {"result", 7}}));
    });
    const auto job = library.wait(id);
    worker.join();

    ASSERT_TRUE(job);
    EXPECT_EQ(job->state, State::succeeded);
    EXPECT_EQ(job->result, "7");
    EXPECT_EQ(library.wait(id, Millis(0))->state, State::succeeded);
    EXPECT_LT(since(start), Millis(5000));
}

// The engine on one port and one database, which can be stopped and started again.
class RestartedEngine {
  public:
    RestartedEngine() { start("127.0.0.1:0"); }

    std::uint16_t port() const { return port_; }

    void restart(int signal) {
        process_->send_signal(signal);
        process_->wait(Millis(10'000));
        start("127.0.0.1:" + std::to_string(port_));
    }

  private:
    void start(const std::string& address) {
        process_ = std::make_unique<Process>(
            sluice_command({"serve", "--no-auth", "--listen", address, "--store",
                            "sqlite:" + (folder_.path() / "db").string()}));
        const auto ready = process_->read_line(Millis(20'000));
        if (!ready) throw std::runtime_error("no engine: " + process_->errors());
        const std::string shown = text(parse(*ready), "address");
        port_ = static_cast<std::uint16_t>(std::stoi(shown.substr(shown.rfind(':') + 1)));
    }

    TempFolder folder_;
    std::unique_ptr<Process> process_;
    std::uint16_t port_ = 0;
};

TEST(ClientRestart, FollowsOverRestartsWithoutGapOrRepeat) {
    RestartedEngine engine;
    Api api(engine.port(), fresh_name("queue"));
    const std::string id = api.submit_id();
    client::Client library(options_for(engine.port()));
    std::atomic<int> heard = 0;
    Story story;
    bool ended = false;
    std::thread follower([&] {
        ended = library.follow(id, 0, [&, listen = story.listener()](const Update& update) {
            ++heard;
            return listen(update);
        });
    });
    std::optional<client::Job> waited;
    std::thread waiter([&] { waited = library.wait(id, Millis(20'000)); });

    std::vector<std::string> expected{"queued", "running"};
    const Json lease = api.claim_one({{"lease_ms", 60'000}});
    for (const int signal : {0, SIGTERM, SIGKILL}) {
        if (signal != 0) engine.restart(signal);
        Api now(engine.port(), api.queue());
        for (int i = 0; i < 20; ++i) {
            expected.push_back(std::to_string(signal) + "-" + std::to_string(i));
            expect_ok(now.log(lease, {line(expected.back())}));
        }
        const int all = static_cast<int>(expected.size());
        EXPECT_TRUE(eventually([&] { return heard == all; })) << heard << " of " << all;
    }
    Api now(engine.port(), api.queue());
    expect_ok(now.succeed(lease));
    follower.join();
    waiter.join();

    expected.emplace_back("succeeded");
    EXPECT_TRUE(ended);
    EXPECT_EQ(story.told, expected);
    ASSERT_TRUE(waited);
    EXPECT_EQ(waited->state, State::succeeded);
}

TEST(ClientRestart, SubmitsThroughARestart) {
    RestartedEngine engine;
    client::Client library(options_for(engine.port()));
    client::NewJob job;
    job.type = "task";
    std::atomic<bool> done = false;
    std::vector<std::string> ids;
    std::thread submitter([&] {
        while (!done) ids.push_back(library.submit(job).id);
    });

    engine.restart(SIGTERM);
    engine.restart(SIGKILL);
    done = true;
    submitter.join();

    std::size_t stored = 0;
    client::JobQuery query{{}, 200, ""};
    do {
        const client::JobPage page = library.list(query);
        stored += page.jobs.size();
        query.cursor = page.next_cursor;
    } while (!query.cursor.empty());
    EXPECT_GT(ids.size(), 0u);
    EXPECT_EQ(stored, ids.size());
}

TEST(ClientRestart, GivesUpFollowingWhenItsPatienceEnds) {
    auto engine = std::make_unique<Engine>("memory:");
    Api api(engine->port(), "queue");
    client::Options options = options_for(engine->port());
    options.patience = Millis(300);
    client::Client library(options);
    const std::string id = api.submit_id();
    std::thread killer;

    const auto start = Clock::now();
    EXPECT_THROW(library.follow(id, 0,
                                [&](const Update&) {
                                    killer = std::thread([&] { engine->kill(); });
                                    return true;
                                }),
                 Error);
    EXPECT_LT(since(start), Millis(3000));
    killer.join();
    EXPECT_THROW(library.wait(id, Millis(200)), Error);
}

TEST(ClientRestart, PollsWhereThereIsNoStream) {
    std::atomic<int> asked = 0;
    client::ScriptedServer server([&](const std::string& request) {
        if (request.find("/stream") != std::string::npos) {
            return client::answer_text("406 No", "", R"({"code":"no_streams"})");
        }
        const std::string state = ++asked < 2 ? "running" : "failed";
        return client::answer_text("200 OK", "",
                                   R"({"id":"1","type":"t","state":")" + state + R"("})");
    });
    client::Client library(options_for(static_cast<std::uint16_t>(server.port())));

    const auto job = library.wait("1", Millis(5000));

    ASSERT_TRUE(job);
    EXPECT_EQ(job->state, State::failed);
}

}  // namespace client_follow_test
}  // namespace sluice::e2e
