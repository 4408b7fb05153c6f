// Many nodes: clients and workers use an engine whose nodes are killed all the time, and a checker
// that reads only what they saw and what the history tells finds nothing wrong.
//
//   SLUICE_CAMPAIGN_SECONDS   how long each campaign lasts (15)
//   SLUICE_CAMPAIGN_SEED      what decides its dice (by chance, printed)
//   SLUICE_CAMPAIGN_NODES     how many nodes share a database (3)
#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>
#include <iostream>
#include <random>

#include "checker/checker.hpp"
#include "e2e/engine.hpp"
#include "nodes/campaign.hpp"
#include "support/postgres.hpp"

namespace sluice::nodes {
namespace {

namespace fs = std::filesystem;

std::uint64_t setting(const char* name, std::uint64_t otherwise) {
    const char* value = std::getenv(name);
    return value == nullptr ? otherwise : std::stoull(value);
}

Plan plan_for(const std::string& store, int nodes) {
    Plan plan;
    plan.store = store;
    plan.nodes = nodes;
    plan.duration = std::chrono::seconds(setting("SLUICE_CAMPAIGN_SECONDS", 15));
    plan.seed = setting("SLUICE_CAMPAIGN_SEED", std::random_device{}() % 1'000'000);
    return plan;
}

void judge(const Files& files) {
    std::ifstream record(files.record);
    std::ifstream history(files.history);
    const checker::Verdict verdict = checker::check(checker::read_evidence(record, history));
    std::cout << verdict.table();
    EXPECT_EQ(verdict.broken(), std::vector<std::string>{});
    EXPECT_EQ(verdict.unlooked(), std::vector<std::string>{}) << "the campaign was too tame";
}

// Moves what the campaign left to where it stays, and says how to look at it again.
void keep(const fs::path& folder, const Plan& plan) {
    const fs::path kept =
        fs::temp_directory_path() / ("sluice-campaign-" + std::to_string(plan.seed));
    fs::remove_all(kept);
    fs::copy(folder, kept, fs::copy_options::recursive);
    std::cout << "look again: " << SLUICE_JOBCHECK << " " << (kept / "record.jsonl").string() << " "
              << (kept / "history.jsonl").string() << "\n"
              << "run again: SLUICE_CAMPAIGN_SEED=" << plan.seed
              << " SLUICE_CAMPAIGN_SECONDS=" << plan.duration.count() << "\n";
}

void run_and_judge(const Plan& plan, const fs::path& folder) {
    std::cout << "seed " << plan.seed << ", " << plan.nodes << " nodes, " << plan.duration.count()
              << " s\n";
    try {
        judge(run_campaign(plan, folder));
        const e2e::Ended verified = e2e::run_sluice({"audit", "verify", "--store", plan.store});
        EXPECT_EQ(verified.code, 0) << verified.output << verified.errors;
    } catch (const std::exception& error) {
        ADD_FAILURE() << error.what();
    }
    if (testing::Test::HasFailure()) keep(folder, plan);
}

TEST(Campaign, OneNodeOnSqliteLosesNothing) {
    const e2e::TempFolder folder;
    Plan plan = plan_for("sqlite:" + (folder.path() / "db").string(), 1);
    plan.starts_renew_leases = true;

    run_and_judge(plan, folder.path());
}

// Nodes measure the database's clock over a connection that answers as slowly as the machine is
// busy, and a step carries the time at which its batch began.
Plan plan_for_postgres() {
    Plan plan = plan_for(fresh_database(), static_cast<int>(setting("SLUICE_CAMPAIGN_NODES", 3)));
    plan.slack = std::chrono::seconds(1);
    plan.clocks = std::chrono::milliseconds(200);
    return plan;
}

TEST(Campaign, ThreeNodesOnPostgresLoseNothing) {
    const e2e::TempFolder folder;

    run_and_judge(plan_for_postgres(), folder.path());
}

// A node that stood still does not know that others took over what it did. The times of its steps
// are worth little then; what workers know for certain still counts.
TEST(Campaign, NodesOnPostgresThatFreezeDoNoHarm) {
    const e2e::TempFolder folder;
    Plan plan = plan_for_postgres();
    plan.freezes = true;
    plan.slack = std::chrono::seconds(3);

    run_and_judge(plan, folder.path());
}

}  // namespace
}  // namespace sluice::nodes
