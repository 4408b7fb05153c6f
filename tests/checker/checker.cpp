#include "checker/checker.hpp"

#include <map>

#include "checker/rules.hpp"

namespace sluice::checker {
namespace {

struct Rule {
    const char* id;
    const char* title;
    void (*look)(const Evidence&, const Limits&, Row&);
};

// The numbers are those of the list of invariants; G rules are about limits, A rules about the
// answers as such. Not here: I12 (quotas) and I27 (pauses), which the G rules are instead, I22
// (transports), since the engine has none yet, and G6 (shares).
constexpr Rule rules[] = {
    {"I1", "no lost submit", no_lost_submit},
    {"I2", "nothing from nowhere", nothing_from_nowhere},
    {"I3", "legal steps", legal_steps},
    {"I4", "an end is final", ends_are_final},
    {"I5", "one lease at a time", one_lease_at_a_time},
    {"I6", "stale leases are refused, current ones not", stale_leases_are_refused},
    {"I7", "one completion", one_completion},
    {"I8", "no lost report", no_lost_report},
    {"I9", "a repeated report is answered like the first", repeated_reports},
    {"I10", "one job per idempotency key", one_job_per_key},
    {"I11", "exclusive keys have one holder", exclusive_keys},
    {"I13", "attempts are counted and backed off", attempts_are_counted},
    {"I14", "deadlines, neither early nor late", deadlines},
    {"I15", "everything ends", everything_ends},
    {"I16", "dependencies first", dependencies_first},
    {"I17", "nothing runs early", nothing_runs_early},
    {"I17b", "the first comes first", first_comes_first},
    {"I18", "logs are whole", logs_are_whole},
    {"I18b", "logs only grow", logs_only_grow},
    {"I19", "streams tell all, once and in order", streams_tell_all},
    {"I20", "the history is whole", history_is_whole},
    {"I21", "what happens together is seen together", effects_are_atomic},
    {"I23", "a cancel holds", cancels_hold},
    {"I24", "tenants know nothing of each other", tenants_are_apart},
    {"I25", "reads agree with the history", reads_agree_with_history},
    {"I26", "a replay is a new job", replays_are_new_jobs},
    {"I28", "a lease lasts as promised", leases_last_as_promised},
    {"I29", "a lease holds until its worker gives up", leases_outlive_silence},
    {"I30", "nothing is removed before its time", removals_are_due},
    {"G0", "no lost change of a limit", no_lost_change},
    {"G1", "no more active jobs than a limit permits", active_jobs_are_bounded},
    {"G2", "no more starts than a rate permits", starts_are_bounded},
    {"G3", "meters equal leases", meters_equal_leases},
    {"G4", "a job that is permitted starts", permitted_jobs_start},
    {"G5", "closed lanes delay no others", closed_lanes_delay_no_others},
    {"G7", "a pause holds from its commit on", pauses_hold},
    {"G8", "no job is taken while none may be", refused_submits_make_nothing},
    {"A1", "answers are among the expected", answers_are_expected},
    {"A2", "answers come in time", answers_come_in_time},
};

const char* name_of(Outcome outcome) {
    switch (outcome) {
        case Outcome::ok: return "ok";
        case Outcome::fail: return "refused";
        case Outcome::info: return "unknown";
    }
    return "";
}

std::vector<std::pair<std::string, std::size_t>> count(const Evidence& evidence) {
    std::map<std::string, std::size_t> operations;
    for (const Operation& operation : evidence.operations) {
        ++operations["  " + operation.op + ", " + name_of(operation.outcome)];
    }
    std::map<std::string, std::size_t> states;
    std::size_t claims = 0;
    std::size_t events = 0;
    std::size_t lines = 0;
    for (const auto& [id, job] : evidence.jobs) {
        ++states["  " + job.state];
        events += job.events.size();
        lines += job.lines.size();
        for (const Event& event : job.events) claims += event.type == "claimed" ? 1 : 0;
    }
    std::vector<std::pair<std::string, std::size_t>> counts;
    counts.emplace_back("operations", evidence.operations.size());
    counts.insert(counts.end(), operations.begin(), operations.end());
    counts.emplace_back("jobs", evidence.jobs.size());
    counts.insert(counts.end(), states.begin(), states.end());
    counts.emplace_back(removed_jobs, evidence.gone.size());
    counts.emplace_back("claims in the history", claims);
    counts.emplace_back("events", events);
    counts.emplace_back("log lines", lines);
    return counts;
}

}  // namespace

Limits limits_of(const Evidence& evidence) {
    Limits limits;
    for (const Operation& operation : evidence.operations) {
        if (operation.op != "plan") continue;
        limits.slack = std::chrono::milliseconds(number(operation.args, "slack_ms"));
        limits.clocks = std::chrono::milliseconds(number(operation.args, "clocks_ms"));
        limits.judges = limits.clocks;
        limits.starts_renew_leases = flag(operation.args, "starts_renew_leases");
        limits.strict_order = flag(operation.args, "strict_order");
        limits.repeated_requests = flag(operation.args, "repeated_requests");
        limits.clock_steps = flag(operation.args, "clock_steps");
        limits.retention = std::chrono::milliseconds(number(operation.args, "retention_ms"));
        const std::chrono::milliseconds keys(number(operation.args, "key_memory_ms"));
        if (keys.count() > 0) limits.key_memory = keys;
    }
    // All rules that compare the history's times allow this difference.
    if (limits.clock_steps) limits.slack = limits.clocks = limits.lateness = std::chrono::hours(24);
    return limits;
}

Verdict check(const Evidence& evidence) {
    const Limits limits = limits_of(evidence);
    Verdict verdict;
    verdict.counts = count(evidence);
    for (const Rule& rule : rules) {
        Row row(rule.id, rule.title);
        rule.look(evidence, limits, row);
        verdict.rows.push_back(std::move(row));
    }
    return verdict;
}

}  // namespace sluice::checker
