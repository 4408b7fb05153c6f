// Many nodes: clients, workers and operators use an engine whose nodes are killed all the time, and
// a checker that reads only their record and the history finds nothing wrong.
//
//   SLUICE_CAMPAIGN_SECONDS   how long each campaign lasts (8)
//   SLUICE_CAMPAIGN_SEED      the seed of its dice (random, printed)
//   SLUICE_CAMPAIGN_NODES     how many nodes share a database (3)
//   SLUICE_CAMPAIGN_FAULTS    the faults, instead of those of the test, separated by commas:
//                             kills, freezes, client_network, clock_steps, and in the test with a
//                             database of its own database_network, database_crashes, or in that
//                             with a clock of its own database_clock_steps
//   SLUICE_CAMPAIGN_KEEP      1: keeps the files of campaigns that found nothing, too
#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>
#include <iostream>
#include <random>

#include "checker/checker.hpp"
#include "e2e/engine.hpp"
#include "nodes/campaigns.hpp"

namespace sluice::nodes {
namespace nodes_test {

namespace fs = std::filesystem;

std::uint64_t setting_of(const char* name, std::uint64_t otherwise) {
    const char* value = std::getenv(name);
    return value == nullptr ? otherwise : std::stoull(value);
}

// How many cases each rule had, in all campaigns together: a short one on a busy machine may have
// none for some rule.
std::map<std::string, std::size_t> looks;
int campaigns = 0;

// How many findings each rule had where limits are said to have been a bit tighter than they were.
std::map<std::string, std::size_t> found_by_tighter_limits;

checker::Evidence evidence_in(const fs::path& record_path, const fs::path& history_path) {
    std::ifstream record(record_path);
    std::ifstream history(history_path);
    return checker::read_evidence(record, history);
}

void tighten(checker::Evidence& evidence) {
    const auto lower = [](checker::Json& limit, const char* bound, std::int64_t by) {
        const std::int64_t lowered = checker::number(limit, bound) - by;
        if (lowered > 0) limit.as_object()[bound] = lowered;
    };
    for (checker::LimitChange& change : evidence.limit_changes) {
        lower(change.after, "max_active", 1);
        lower(change.after, "rate_burst", 2);
    }
}

void count_findings_of_tighter_limits(const Files& files) {
    checker::Evidence evidence = evidence_in(files.record, files.history);
    tighten(evidence);
    const checker::Verdict verdict = checker::check(evidence);
    std::cout << "with tighter limits:";
    for (const checker::Row& row : verdict.rows) {
        found_by_tighter_limits[row.id()] += row.findings().size();
        if (!row.findings().empty()) std::cout << " " << row.id() << " " << row.findings().size();
    }
    std::cout << "\n";
}

checker::Verdict verdict_on(const fs::path& record_path, const fs::path& history_path) {
    checker::Verdict verdict = checker::check(evidence_in(record_path, history_path));
    std::cout << verdict.table();
    EXPECT_EQ(verdict.broken(), std::vector<std::string>{});
    return verdict;
}

std::size_t count_removed(const checker::Verdict& verdict) {
    const std::map<std::string, std::size_t> counts(verdict.counts.begin(), verdict.counts.end());
    return counts.at(checker::removed_jobs);
}

void judge(const Files& files) {
    const checker::Verdict verdict = verdict_on(files.record, files.history);
    EXPECT_EQ(count_removed(verdict), 0u);
    for (const checker::Row& row : verdict.rows) looks[row.id()] += row.cases();
    count_findings_of_tighter_limits(files);
    ++campaigns;
    if (files.kept.empty()) return;
    EXPECT_GT(count_removed(verdict_on(files.record, files.kept)), 0u);
}

// Keeps the files of the campaign, and prints how to repeat it.
void keep(const fs::path& folder, const Plan& plan) {
    const std::string test = testing::UnitTest::GetInstance()->current_test_info()->name();
    const fs::path kept =
        fs::temp_directory_path() / ("sluice-campaign-" + test + "-" + std::to_string(plan.seed));
    fs::remove_all(kept);
    fs::copy(folder, kept, fs::copy_options::recursive);
    std::cout << "look again: " << SLUICE_JOBCHECK << " " << (kept / "record.jsonl").string() << " "
              << (kept / "history.jsonl").string() << "\n"
              << "run again: SLUICE_CAMPAIGN_SEED=" << plan.seed
              << " SLUICE_CAMPAIGN_SECONDS=" << plan.duration.count()
              << " nodes_tests --gtest_filter=Campaign." << test << "\n";
}

// Each fault can be chosen alone.
void choose_faults(Plan& plan) {
    const char* value = std::getenv("SLUICE_CAMPAIGN_FAULTS");
    if (value == nullptr) return;
    const std::string wanted = "," + std::string(value) + ",";
    const auto is_wanted = [&](const std::string& name) {
        return wanted.find("," + name + ",") != std::string::npos;
    };
    plan.kills = is_wanted("kills");
    plan.freezes = is_wanted("freezes");
    plan.client_network = is_wanted("client_network");
    plan.clock_steps = is_wanted("clock_steps");
    plan.database_clock_steps = plan.database_clock_steps && is_wanted("database_clock_steps");
    plan.database_network = plan.database != nullptr && is_wanted("database_network");
    plan.database_crashes = plan.database != nullptr && is_wanted("database_crashes");
}

void run_and_judge(Setting setting) {
    Plan& plan = setting.plan;
    plan.duration = std::chrono::seconds(setting_of("SLUICE_CAMPAIGN_SECONDS", 8));
    plan.seed = setting_of("SLUICE_CAMPAIGN_SEED", std::random_device{}() % 1'000'000);
    if (plan.nodes > 1) plan.nodes = static_cast<int>(setting_of("SLUICE_CAMPAIGN_NODES", 3));
    choose_faults(plan);
    const fs::path folder = setting.folder->path();
    std::cout << "seed " << plan.seed << ", " << plan.nodes << " nodes, " << plan.duration.count()
              << " s\n";
    try {
        judge(run_campaign(plan, folder));
        const e2e::Ended verified = e2e::run_sluice({"audit", "verify", "--store", plan.store});
        EXPECT_EQ(verified.code, 0) << verified.output << verified.errors;
    } catch (const std::exception& error) {
        ADD_FAILURE() << error.what();
    }
    const bool is_wanted = setting_of("SLUICE_CAMPAIGN_KEEP", 0) != 0;
    if (testing::Test::HasFailure() || is_wanted) keep(folder, plan);
}

TEST(Campaign, OneNodeOnSqliteLosesNothing) {
    run_and_judge(one_node_on_sqlite());
}

TEST(Campaign, ABadNetworkBeforeSqliteDoesNoHarm) {
    run_and_judge(bad_network_before_sqlite());
}

TEST(Campaign, ClocksThatAreSetDoNoHarmToSqlite) {
    run_and_judge(clocks_set_on_sqlite());
}

TEST(Campaign, ThreeNodesOnPostgresLoseNothing) {
    run_and_judge(three_nodes_on_postgres());
}

TEST(Campaign, ADatabaseWhoseClockIsSetDoesNoHarm) {
    run_and_judge(database_clock_set());
}

TEST(Campaign, NodesOnPostgresThatFreezeOrSetTheirClocksDoNoHarm) {
    run_and_judge(frozen_nodes_on_postgres());
}

TEST(Campaign, ABadNetworkAndADyingDatabaseDoNoHarm) {
    run_and_judge(dying_postgres_behind_bad_network());
}

TEST(Campaigns, GaveEachRuleSomethingToLookAt) {
    if (campaigns < 7) GTEST_SKIP() << "not all of them were run";
    for (const auto& [rule, cases] : looks) EXPECT_GT(cases, 0u) << rule;
}

// Else the limits of the campaigns bound nothing, or the rules look away.
TEST(Campaigns, WouldHaveBrokenLimitsThatAreABitTighter) {
    if (campaigns < 7) GTEST_SKIP() << "not all of them were run";
    for (const char* rule : {"G1", "G2"}) EXPECT_GT(found_by_tighter_limits[rule], 0u) << rule;
}

}  // namespace nodes_test
}  // namespace sluice::nodes
