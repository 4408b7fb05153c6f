// kill -9 with clients in flight, again and again on one store. Everything acknowledged must be
// there afterwards, each job must end once, and its history must verify.
#include <signal.h>

#include <atomic>
#include <mutex>
#include <thread>

#include "e2e/api.hpp"

namespace sluice::e2e {
namespace crash_test {

// The answers to clients, from all rounds.
struct Told {
    std::mutex mutex;
    std::vector<std::string> submitted;
    std::map<std::string, std::string> outcomes;    // by job: that of its accepted report
    std::map<std::string, std::int64_t> log_lines;  // by job: the highest acknowledged number
    std::atomic<int> answers = 0;
};

void submit_until_cut(std::uint16_t port, Told& told) {
    Api api(port, "crash");
    for (;;) {
        const std::string id = api.submit_id({{"payload", "p"}});
        const std::lock_guard lock(told.mutex);
        told.submitted.push_back(id);
        ++told.answers;
    }
}

void work_until_cut(std::uint16_t port, Told& told, int number_of_worker) {
    Api api(port, "crash");
    for (int i = 0;; ++i) {
        for (const Json& lease : api.claim({{"wait_ms", 2000}, {"limit", 2}})) {
            const std::string id = job_of(lease);
            const Json logged = expect_ok(api.log(lease, {Fields{{"message", "working"}}}));
            {
                const std::lock_guard lock(told.mutex);
                told.log_lines[id] = number(logged, "last_seq");
            }
            if ((i + number_of_worker) % 4 == 0) continue;  // goes silent
            const char* outcome = i % 2 == 0 ? "succeeded" : "canceled";
            const Json job = expect_ok(api.report(lease, {{"outcome", outcome}}));
            const std::lock_guard lock(told.mutex);
            EXPECT_EQ(told.outcomes.count(id), 0u) << "reported twice";
            told.outcomes[id] = text(job, "state");
            ++told.answers;
        }
    }
}

void run_until_killed(Engine& engine, Told& told, int enough) {
    const int before = told.answers;
    std::thread killer([&] {
        EXPECT_TRUE(eventually([&] { return told.answers > before + enough; }));
        engine.process().send_signal(SIGKILL);
    });
    in_parallel(4, [&](int i) {
        try {
            if (i < 2) submit_until_cut(engine.port(), told);
            if (i >= 2) work_until_cut(engine.port(), told, i);
        } catch (const std::runtime_error&) {
            // The engine is gone: that is how each round ends.
        }
    });
    killer.join();
    EXPECT_EQ(engine.process().wait(Millis(10'000)), 128 + SIGKILL);
}

void check_against(Api& api, Told& told, std::size_t first) {
    for (std::size_t i = first; i < told.submitted.size(); ++i) {
        const std::string& id = told.submitted[i];
        const Json job = api.job(id);
        EXPECT_EQ(text(job, "payload"), "p");
        const auto outcome = told.outcomes.find(id);
        if (outcome != told.outcomes.end()) {
            EXPECT_EQ(text(job, "state"), outcome->second) << id;
        }
        int ends = 0;
        for (const Json& event : api.events(id)) {
            const std::string to = text(event, "to");
            ends += !to.empty() && to != "queued" && to != "running" ? 1 : 0;
        }
        EXPECT_LE(ends, 1) << id;
        const auto lines = told.log_lines.find(id);
        if (lines == told.log_lines.end()) continue;
        EXPECT_GE(static_cast<std::int64_t>(api.logs(id).size()), lines->second) << id;
    }
}

TEST(Crash, TwentyKillsLoseNothingThatWasAcknowledged) {
    const TempFolder folder;
    const std::string store = "sqlite:" + (folder.path() / "db").string();
    Told told;
    std::size_t checked = 0;
    for (int round = 0; round < 20; ++round) {
        Engine engine(store);
        Api api(engine.port(), "crash");
        check_against(api, told, checked);
        checked = told.submitted.size();
        run_until_killed(engine, told, 10 + round * 3);
    }

    Engine engine(store);
    Api api(engine.port(), "crash");
    check_against(api, told, 0);
    EXPECT_EQ(engine.stop(), 0);
    const Ended verified = run_sluice({"audit", "verify", "--store", store});
    EXPECT_EQ(verified.code, 0) << verified.errors;
    EXPECT_GT(told.outcomes.size(), 50u);
}

TEST(Crash, ALeaseFromBeforeTheKillWorksAfterTheRestart) {
    const TempFolder folder;
    const std::string store = "sqlite:" + (folder.path() / "db").string();
    std::vector<Json> leases;
    {
        Engine engine(store);
        Api api(engine.port(), "q");
        api.submit_batch(std::vector<Fields>(3));
        for (const Json& lease : api.claim({{"limit", 3}})) leases.push_back(lease);
        engine.kill();
    }
    Engine engine(store);
    Api api(engine.port(), "q");

    expect_ok(api.heartbeat(leases[0]));
    expect_ok(api.succeed(leases[0]));
    expect_ok(api.log(leases[1], {Fields{{"message", "still here"}}}));
    expect_ok(api.succeed(leases[1]));
    expect_ok(api.release(leases[2]));
    EXPECT_EQ(number(api.claim_one(), "attempt"), 1);
}

TEST(Crash, ARepeatedReportIsAnsweredAsTheFirstAcrossAKill) {
    const TempFolder folder;
    const std::string store = "sqlite:" + (folder.path() / "db").string();
    Json lease;
    Response first;
    {
        Engine engine(store);
        Api api(engine.port(), "q");
        api.submit();
        lease = api.claim_one();
        first = api.report(lease, {{"outcome", "succeeded"}, {"result", 1}});
        engine.kill();
    }
    Engine engine(store);
    Api api(engine.port(), "q");

    EXPECT_EQ(api.report(lease, {{"outcome", "succeeded"}, {"result", 1}}).body, first.body);
    expect_refused(api.fail(lease), 409, "conflict");
}

}  // namespace crash_test
}  // namespace sluice::e2e
