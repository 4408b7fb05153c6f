#pragma once

#include "checker/evidence.hpp"
#include "checker/verdict.hpp"

// The invariants, one function each. Its definition says what it demands.
namespace sluice::checker {

// submit_rules.cpp
void no_lost_submit(const Evidence& evidence, const Limits& limits, Row& row);
void nothing_from_nowhere(const Evidence& evidence, const Limits& limits, Row& row);
void one_job_per_key(const Evidence& evidence, const Limits& limits, Row& row);
void replays_are_new_jobs(const Evidence& evidence, const Limits& limits, Row& row);

// removal_rules.cpp
void removals_are_due(const Evidence& evidence, const Limits& limits, Row& row);
// Whether the job is gone in a run with removals: the rule above judges whether it should be.
inline bool may_be_removed(const Evidence& evidence, const Limits& limits, const std::string& id) {
    return limits.retention.count() > 0 && evidence.is_gone(id);
}

// history_rules.cpp
void legal_steps(const Evidence& evidence, const Limits& limits, Row& row);
void ends_are_final(const Evidence& evidence, const Limits& limits, Row& row);
void one_completion(const Evidence& evidence, const Limits& limits, Row& row);
void attempts_are_counted(const Evidence& evidence, const Limits& limits, Row& row);
void history_is_whole(const Evidence& evidence, const Limits& limits, Row& row);
void reads_agree_with_history(const Evidence& evidence, const Limits& limits, Row& row);

// chain_rules.cpp, as a part of history_is_whole
void hashes_hang_together(const Evidence& evidence, Row& row);
void entity_hashes_hang_together(const Evidence& evidence, Row& row);

// lease_rules.cpp
void one_lease_at_a_time(const Evidence& evidence, const Limits& limits, Row& row);
void stale_leases_are_refused(const Evidence& evidence, const Limits& limits, Row& row);
void leases_last_as_promised(const Evidence& evidence, const Limits& limits, Row& row);
void exclusive_keys(const Evidence& evidence, const Limits& limits, Row& row);

// promise_rules.cpp
void leases_outlive_silence(const Evidence& evidence, const Limits& limits, Row& row);
void first_comes_first(const Evidence& evidence, const Limits& limits, Row& row);

// tenant_rules.cpp
void tenants_are_apart(const Evidence& evidence, const Limits& limits, Row& row);

// stream_rules.cpp
void streams_tell_all(const Evidence& evidence, const Limits& limits, Row& row);

// effect_rules.cpp
void effects_are_atomic(const Evidence& evidence, const Limits& limits, Row& row);

// report_rules.cpp
void no_lost_report(const Evidence& evidence, const Limits& limits, Row& row);
void repeated_reports(const Evidence& evidence, const Limits& limits, Row& row);
void cancels_hold(const Evidence& evidence, const Limits& limits, Row& row);

// time_rules.cpp
void deadlines(const Evidence& evidence, const Limits& limits, Row& row);
void everything_ends(const Evidence& evidence, const Limits& limits, Row& row);
void nothing_runs_early(const Evidence& evidence, const Limits& limits, Row& row);

// limit_rules.cpp
void no_lost_change(const Evidence& evidence, const Limits& limits, Row& row);
void active_jobs_are_bounded(const Evidence& evidence, const Limits& limits, Row& row);
void starts_are_bounded(const Evidence& evidence, const Limits& limits, Row& row);
void meters_equal_leases(const Evidence& evidence, const Limits& limits, Row& row);
void pauses_hold(const Evidence& evidence, const Limits& limits, Row& row);

// refusal_rules.cpp
void refused_submits_make_nothing(const Evidence& evidence, const Limits& limits, Row& row);

// waiting_rules.cpp
void permitted_jobs_start(const Evidence& evidence, const Limits& limits, Row& row);
void closed_lanes_delay_no_others(const Evidence& evidence, const Limits& limits, Row& row);

// dependency_rules.cpp
void dependencies_first(const Evidence& evidence, const Limits& limits, Row& row);
// Whether a submit or a batch names jobs that none of its jobs may wait for.
bool asks_the_impossible(const Evidence& evidence, const Operation& operation);
// Whether it names a job that may have been removed before.
bool asks_for_the_removed(const Evidence& evidence, const Limits& limits,
                          const Operation& operation);

// log_rules.cpp
void logs_are_whole(const Evidence& evidence, const Limits& limits, Row& row);
void logs_only_grow(const Evidence& evidence, const Limits& limits, Row& row);

// answer_rules.cpp
void answers_are_expected(const Evidence& evidence, const Limits& limits, Row& row);
void answers_come_in_time(const Evidence& evidence, const Limits& limits, Row& row);

}  // namespace sluice::checker
