#include "nodes/campaign.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <thread>

#include "nodes/actors.hpp"
#include "nodes/history_export.hpp"

namespace sluice::nodes {
namespace {

using e2e::Json;
using e2e::List;
using e2e::Millis;
using e2e::text;
using simulation::Dice;
using Clock = std::chrono::steady_clock;

constexpr Millis drain_patience{120'000};

// Threads of actors of one kind. When it goes it sets the phase that ends them and waits for them.
class Crowd {
  public:
    Crowd(Stage& stage, void (*act)(Stage&, int), int count, Phase ends_in)
        : stage_(stage), ends_in_(ends_in) {
        for (int number = 0; number < count; ++number) {
            threads_.emplace_back([this, act, number] { run(act, number); });
        }
    }
    ~Crowd() {
        stage_.phase = ends_in_;
        for (std::thread& thread : threads_) thread.join();
    }
    Crowd(const Crowd&) = delete;
    Crowd& operator=(const Crowd&) = delete;

  private:
    void run(void (*act)(Stage&, int), int number) {
        try {
            act(stage_, number);
        } catch (const std::exception& error) {
            ADD_FAILURE() << "an actor gave up: " << error.what();
        }
    }

    Stage& stage_;
    Phase ends_in_;
    std::vector<std::thread> threads_;
};

// Kills nodes, stops some in order, freezes some, and starts them again.
class Killer {
  public:
    Killer(Stage& stage, const Plan& plan)
        : nodes_(stage.nodes), record_(stage.record), dice_(plan.seed), freezes_(plan.freezes) {}

    void run_until(Clock::time_point end) {
        while (Clock::now() < end) {
            wait(Millis(700 + dice_.below(1000)));
            const int node = dice_.below(nodes_.count());
            if (freezes_ && dice_.one_in(4)) {
                freeze(node);
            } else {
                take_down(node);
                if (dice_.one_in(4)) take_down(dice_.below(nodes_.count()));
                wait(Millis(dice_.below(600)));
                start_all();
            }
        }
    }

  private:
    void take_down(int node) {
        if (!nodes_.is_up(node)) return;
        if (dice_.one_in(6)) {
            record_.note("stop", "killer", {{"node", node}});
            EXPECT_EQ(nodes_.stop(node), 0) << "node " << node;
        } else {
            record_.note("kill", "killer", {{"node", node}});
            nodes_.kill(node);
        }
    }

    void freeze(int node) {
        record_.note("freeze", "killer", {{"node", node}});
        nodes_.freeze(node);
        std::this_thread::sleep_for(Millis(200 + dice_.below(2000)));
        nodes_.thaw(node);
    }

    void start_all() {
        for (int node = 0; node < nodes_.count(); ++node) {
            if (nodes_.is_up(node)) continue;
            nodes_.start(node);
            record_.note("start", "killer", {{"node", node}});
        }
    }

    void wait(Millis time) {
        const auto end = Clock::now() + time;
        do {
            nodes_.look_after();
            std::this_thread::sleep_for(std::min(time, Millis(20)));
        } while (Clock::now() < end);
    }

    Nodes& nodes_;
    Record& record_;
    Dice dice_;
    bool freezes_;
};

bool has_ended(const Json& job) {
    const std::string state = text(job, "state");
    return state != "queued" && state != "running" && e2e::is_null(job, "locked_by");
}

// Waits until every job has ended and let go of its lease, and returns them.
List drain(Nodes& nodes) {
    List jobs;
    const bool all_ended = e2e::eventually(
        [&] {
            std::this_thread::sleep_for(Millis(200));
            nodes.look_after();
            jobs = all_jobs(nodes.port(0));
            return std::all_of(jobs.begin(), jobs.end(), has_ended);
        },
        drain_patience);
    EXPECT_TRUE(all_ended) << "jobs have not ended " << drain_patience.count() << " ms after";
    return jobs;
}

}  // namespace

Files run_campaign(const Plan& plan, const std::filesystem::path& folder) {
    Files files{folder / "record.jsonl", folder / "history.jsonl"};
    Nodes nodes(plan.store, plan.nodes);
    Record record(files.record);
    record.note("plan", "campaign",
                {{"seed", plan.seed},
                 {"nodes", plan.nodes},
                 {"slack_ms", plan.slack.count()},
                 {"clocks_ms", plan.clocks.count()},
                 {"starts_renew_leases", plan.starts_renew_leases}});
    Stage stage(nodes, record, plan.seed);
    {
        const Crowd workers(stage, act_as_worker, plan.workers, Phase::over);
        {
            const Crowd clients(stage, act_as_client, plan.clients, Phase::healing);
            Killer(stage, plan).run_until(Clock::now() + plan.duration);
        }
        drain(nodes);
    }
    record.finish();
    export_history(nodes.port(0), drain(nodes), files.history);
    for (int node = 0; node < nodes.count(); ++node) EXPECT_EQ(nodes.stop(node), 0);
    return files;
}

}  // namespace sluice::nodes
