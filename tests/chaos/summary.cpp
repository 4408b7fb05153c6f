#include "chaos/summary.hpp"

#include <fmt/format.h>

namespace sluice::chaos {
namespace {

std::string result_of(const Tally& tally) {
    if (!tally.is_good()) return "FAILED";
    if (!tally.skipped.empty()) return "skipped: " + tally.skipped;
    return tally.note.empty() ? "ok" : "ok: " + tally.note;
}

}  // namespace

void count(const checker::Evidence& evidence, Tally& tally) {
    for (const checker::Operation& operation : evidence.operations) {
        // A batch is also recorded as its submits.
        const bool is_left_out = operation.op.starts_with("read") || operation.op == "batch";
        const bool is_request =
            operation.status != 0 || operation.outcome == checker::Outcome::info;
        if (!is_request) continue;
        if (operation.outcome == checker::Outcome::info) ++tally.unknown;
        if (operation.outcome == checker::Outcome::ok && !is_left_out) ++tally.acknowledged;
    }
    tally.jobs += evidence.jobs.size();
}

std::string table(const std::vector<Tally>& tallies) {
    constexpr auto row =
        "| {:<18} | {:>6} | {:>12} | {:>6} | {:>7} | {:>10} | {:>17} | {:>7} | {} |\n";
    std::string text =
        fmt::format(fmt::runtime(row), "fault", "cycles", "acknowledged", "jobs", "unknown",
                    "violations", "worst recovery ms", "seconds", "result");
    text += "|---|--:|--:|--:|--:|--:|--:|--:|---|\n";
    for (const Tally& tally : tallies) {
        text +=
            fmt::format(fmt::runtime(row), tally.fault, tally.cycles, tally.acknowledged,
                        tally.jobs, tally.unknown, tally.violations, tally.worst_recovery.count(),
                        fmt::format("{:.1f}", tally.seconds), result_of(tally));
    }
    return text;
}

}  // namespace sluice::chaos
