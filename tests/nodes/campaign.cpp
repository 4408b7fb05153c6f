#include "nodes/campaign.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <thread>

#include "nodes/actors.hpp"
#include "nodes/history_export.hpp"
#include "nodes/ledger_export.hpp"
#include "nodes/saboteur.hpp"

namespace sluice::nodes {
namespace {

using e2e::List;
using e2e::Millis;
using Clock = std::chrono::steady_clock;

constexpr Millis drain_patience{120'000};
constexpr Millis network_patience{3000};

// Threads of actors of one kind. The destructor sets the phase that ends them and waits for them.
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

// Waits until every job has ended and its lease is closed, and returns the jobs.
List drain(Nodes& nodes) {
    List jobs;
    const bool is_empty = e2e::eventually(
        [&] {
            std::this_thread::sleep_for(Millis(200));
            nodes.look_after();
            jobs = all_jobs(nodes.port(0));
            return all_ended(jobs);
        },
        drain_patience);
    EXPECT_TRUE(is_empty) << "jobs have not ended " << drain_patience.count() << " ms after";
    return jobs;
}

// Gives the competition its time, if there is one.
void wait_for_competition(Stage& stage, Nodes& nodes) {
    stage.is_healed = true;
    const bool is_over = e2e::eventually(
        [&] {
            nodes.look_after();
            return !stage.has_competition || stage.is_competition_over;
        },
        drain_patience);
    EXPECT_TRUE(is_over) << "the competition has not ended";
}

Wiring wiring_for(const Plan& plan) {
    const bool has_proxies = plan.database_network || (plan.freezes && plan.database != nullptr);
    return {.client_proxies = plan.client_network,
            .database_port = has_proxies ? plan.database->port() : std::uint16_t{0},
            .own_clocks = plan.clock_steps};
}

void write_plan(const Plan& plan, Record& record) {
    record.note("plan", "campaign",
                {{"seed", plan.seed},
                 {"nodes", plan.nodes},
                 {"slack_ms", plan.slack.count()},
                 {"clocks_ms", plan.clocks.count()},
                 {"clock_steps", plan.clock_steps},
                 {"repeated_requests", plan.client_network},
                 {"strict_order", plan.strict_order},
                 {"retention_ms", std::chrono::milliseconds(plan.retention).count()},
                 {"key_memory_ms", std::chrono::milliseconds(plan.retention).count()},
                 {"starts_renew_leases", plan.starts_renew_leases}});
}

void stop_all(Nodes& nodes) {
    for (int node = 0; node < nodes.count(); ++node) EXPECT_EQ(nodes.stop(node), 0);
}

// Successes that no gate can ask for.
bool has_removable(const List& jobs) {
    return std::any_of(jobs.begin(), jobs.end(), [](const e2e::Json& job) {
        return e2e::text(job, "state") == "succeeded" && e2e::is_null(job, "entity_id");
    });
}

// Lets the nodes, which are down, remove old jobs at a later time, and exports the rest. The export
// reads from nodes that remove nothing: jobs must not go while they are read.
void remove_old_jobs(const Plan& plan, Nodes& nodes, Record& record,
                     const std::filesystem::path& history) {
    // On PostgreSQL jobs are removed when their week is over.
    const std::chrono::hours later = plan.retention + std::chrono::hours(24 * 15);
    const std::chrono::hours of_nodes = plan.database == nullptr ? later : std::chrono::hours(0);
    if (plan.database != nullptr) plan.database->set_clock(later);
    const std::string keys = fmt::format("idempotency_hours = {}\n", plan.retention.count());
    nodes.start_later(of_nodes, fmt::format("{0}[retention_of]\nsucceeded = \"{1}h\"\n", keys,
                                            plan.retention.count()));
    EXPECT_TRUE(
        e2e::eventually([&] { return !has_removable(all_jobs(nodes.port(0))); }, drain_patience))
        << "old jobs are not removed";
    stop_all(nodes);
    nodes.start_later(of_nodes, keys);
    record.note("removed", "campaign", {}, later);
    export_history(nodes.port(0), all_jobs(nodes.port(0)), history);
    stop_all(nodes);
    export_ledger(plan.store, history);
}

}  // namespace

Files run_campaign(const Plan& plan, const std::filesystem::path& folder) {
    Files files{.record = folder / "record.jsonl", .history = folder / "history.jsonl"};
    Nodes nodes(plan.store, plan.nodes, wiring_for(plan));
    Record record(files.record);
    write_plan(plan, record);
    Stage stage(nodes, record, plan.seed);
    stage.has_competition = plan.competition && plan.operators > 0;
    if (plan.client_network) {
        stage.patience = network_patience;
        stage.always_keyed = true;
    }
    Saboteur saboteur(stage, plan);
    {
        const Crowd workers(stage, act_as_worker, plan.workers, Phase::over);
        const Crowd operators(stage, act_as_operator, plan.operators, Phase::over);
        {
            const Crowd clients(stage, act_as_client, plan.clients, Phase::healing);
            saboteur.run_until(Clock::now() + plan.duration);
        }
        saboteur.heal();
        wait_for_competition(stage, nodes);
        drain(nodes);
    }
    check_limits(stage);
    export_history(nodes.port(0), drain(nodes), files.history);
    stop_all(nodes);
    if (plan.database_clock_steps) {
        EXPECT_GT(plan.database->ask("SELECT corrections FROM clock"), 0);
    }
    export_ledger(plan.store, files.history);
    if (plan.retention.count() > 0) {
        files.kept = folder / "kept.jsonl";
        remove_old_jobs(plan, nodes, record, files.kept);
    }
    record.finish();
    return files;
}

}  // namespace sluice::nodes
