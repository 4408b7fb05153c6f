// Campaigns with several nodes, networks, clocks and databases: see nodes/campaigns.hpp.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <fstream>

#include "chaos/summary.hpp"
#include "checker/checker.hpp"
#include "nodes/campaigns.hpp"

namespace sluice::chaos {
namespace {

namespace fs = std::filesystem;

// The number of failures of the campaign itself. It is written as a test, and this program is none.
int complaints() {
    const testing::TestResult& all = testing::UnitTest::GetInstance()->ad_hoc_test_result();
    int failed = 0;
    for (int i = 0; i < all.total_part_count(); ++i) failed += all.GetTestPartResult(i).failed();
    return failed;
}

void add_verdict(const checker::Evidence& evidence, Tally& tally) {
    const checker::Verdict verdict = checker::check(evidence);
    for (const checker::Row& row : verdict.rows) tally.violations += row.findings().size();
    if (!verdict.is_clean()) fmt::print("{}", verdict.table());
}

void judge(const nodes::Files& files, Tally& tally) {
    std::ifstream record(files.record);
    std::ifstream history(files.history);
    const checker::Evidence evidence = checker::read_evidence(record, history);
    count(evidence, tally);
    for (const checker::Operation& operation : evidence.operations) {
        tally.cycles += operation.actor == "saboteur" && operation.op != "start";
    }
    add_verdict(evidence, tally);
    if (files.kept.empty()) return;
    std::ifstream record_again(files.record);
    std::ifstream kept(files.kept);
    add_verdict(checker::read_evidence(record_again, kept), tally);
}

void keep(const nodes::Setting& setting, const std::string& fault) {
    const fs::path kept =
        fs::temp_directory_path() / fmt::format("sluice-chaos-{}-{}", fault, setting.plan.seed);
    std::error_code error;
    fs::remove_all(kept, error);
    fs::copy(setting.folder->path(), kept, fs::copy_options::recursive, error);
    fmt::print("  kept:  {}\n  again: ./dev chaos --seed {} {}=1\n  judge: {} {} {}\n",
               kept.string(), setting.plan.seed, fault, SLUICE_JOBCHECK,
               (kept / "record.jsonl").string(), (kept / "history.jsonl").string());
}

void run_campaigns(const Order& order, Tally& tally, nodes::Setting (*make)()) {
    for (int i = 0; i < order.count && !order.is_over(); ++i) {
        nodes::Setting setting = make();
        setting.plan.seed = order.seed + static_cast<std::uint64_t>(i);
        setting.plan.duration = std::chrono::seconds(order.count > 1 ? 20 : 8);
        const std::size_t before = tally.violations;
        const int complained = complaints();
        try {
            judge(nodes::run_campaign(setting.plan, setting.folder->path()), tally);
            const e2e::Ended verified =
                e2e::run_sluice({"audit", "verify", "--store", setting.plan.store});
            EXPECT_EQ(verified.code, 0) << verified.output << verified.errors;
        } catch (const std::exception& error) {
            ADD_FAILURE() << error.what();
        }
        tally.violations += static_cast<std::size_t>(complaints() - complained);
        if (tally.violations > before) keep(setting, tally.fault);
    }
    tally.note = "cycles are things that went wrong";
}

}  // namespace

void one_node(const Order& order, Tally& tally) {
    run_campaigns(order, tally, nodes::one_node_on_sqlite);
}
void bad_network(const Order& order, Tally& tally) {
    run_campaigns(order, tally, nodes::bad_network_before_sqlite);
}
void set_clocks(const Order& order, Tally& tally) {
    run_campaigns(order, tally, nodes::clocks_set_on_sqlite);
}
void three_nodes(const Order& order, Tally& tally) {
    run_campaigns(order, tally, nodes::three_nodes_on_postgres);
}
void set_database_clock(const Order& order, Tally& tally) {
    run_campaigns(order, tally, nodes::database_clock_set);
}
void frozen_nodes(const Order& order, Tally& tally) {
    run_campaigns(order, tally, nodes::frozen_nodes_on_postgres);
}
void dying_database(const Order& order, Tally& tally) {
    run_campaigns(order, tally, nodes::dying_postgres_behind_bad_network);
}

}  // namespace sluice::chaos
