#include "simulation/coverage.hpp"

#include <fmt/format.h>

#include <array>
#include <stdexcept>

namespace sluice::simulation {
namespace {

constexpr auto all_rows = std::to_array<const char*>({
    "step: new -submitted-> queued",
    "step: queued -claimed-> running",
    "step: queued -canceled-> canceled",
    "step: running -succeeded-> succeeded",
    "step: running -failed-> failed",
    "step: running -retried-> queued",
    "step: running -lease_expired-> queued",
    "step: running -handed_back-> queued",
    "step: running -canceled-> canceled",
    "step: running -timed_out-> timed_out",
    "step: ended -lease_closed-> ended",
    "refused: submit, unavailable",
    "refused: submit, store_full",
    "refused: submit, invalid",
    "refused: submit, idempotency_mismatch",
    "refused: submit, resource_failed",
    "refused: claim, unavailable",
    "refused: claim, store_full",
    "refused: heartbeat, lease_lost",
    "refused: heartbeat, not_found",
    "refused: heartbeat, unavailable",
    "refused: heartbeat, store_full",
    "refused: logs, lease_lost",
    "refused: logs, not_found",
    "refused: logs, unavailable",
    "refused: logs, store_full",
    "refused: report, invalid",
    "refused: report, lease_lost",
    "refused: report, conflict",
    "refused: report, not_found",
    "refused: report, unavailable",
    "refused: report, store_full",
    "refused: hand back, lease_lost",
    "refused: hand back, not_found",
    "refused: hand back, unavailable",
    "refused: hand back, store_full",
    "refused: cancel, conflict",
    "refused: cancel, not_found",
    "refused: cancel, forbidden",
    "refused: cancel, job_not_cancellable",
    "refused: cancel, unavailable",
    "refused: cancel, store_full",
    "refused: replay, conflict",
    "refused: replay, forbidden",
    "refused: replay, not_found",
    "refused: replay, resource_failed",
    "refused: replay, unavailable",
    "refused: replay, store_full",
    "refused: explain, not_found",
    "refused: explain, unavailable",
    "refused: explain, store_full",
    "refused: reset, not_found",
    "refused: reset, resource_not_failed",
    "refused: reset, unavailable",
    "refused: reset, store_full",
    "refused: submit, forbidden",
    "refused: put rule, conflict",
    "refused: put rule, not_found",
    "refused: put rule, invalid",
    "refused: put rule, unavailable",
    "refused: put rule, store_full",
    "refused: lift rule, unavailable",
    "refused: lift rule, store_full",
    "refused: set profile, unavailable",
    "refused: set profile, store_full",
    "refused: release lease, conflict",
    "refused: release lease, not_found",
    "refused: release lease, unavailable",
    "refused: release lease, store_full",
    "refused: can start, unavailable",
    "refused: can start, store_full",
    "no answer: submit",
    "no answer: claim",
    "no answer: heartbeat",
    "no answer: logs",
    "no answer: report",
    "no answer: hand back",
    "no answer: cancel",
    "no answer: replay",
    "no answer: explain",
    "no answer: reset",
    "no answer: put rule",
    "no answer: lift rule",
    "no answer: set profile",
    "no answer: release lease",
    "no answer: can start",
    "fault: request lost",
    "fault: request repeated",
    "fault: answer lost",
    "fault: answer late",
    "fault: node was down",
    "fault: hint lost",
    "fault: claim forgotten",
    "fault: node dies while idle",
    "fault: node dies while it commits",
    "fault: node dies before the session",
    "fault: node dies within the session",
    "fault: node dies before the commit",
    "fault: node dies after the commit",
    "fault: store gives no session",
    "fault: store fails within the session",
    "fault: store fails before the commit",
    "fault: store fails after the commit",
    "fault: store prefers another session",
    "fault: another session has an entity",
    "fault: store is slow",
    "fault: disk is full",
    "fault: worker pauses beyond its lease",
    "fault: worker vanishes",
    "fault: clock is set forward",
    "fault: clock is set back",
    "fault: node starts after the clock was set",
    "fault: node waits for the time at its start",
    "fault: node starts without the time",
    "fault: look at the clock is late",
    "fault: database starts again with another clock",
    "removed: succeeded",
    "removed: failed",
    "removed: canceled",
    "removed: timed_out",
    "kept: an open job depends on it",
    "kept: a key stands for it",
    "rule: maintenance of all",
    "rule: maintenance of a tenant",
    "rule: block",
    "rule: throttle",
    "rule: limit",
    "rule: quota of a tenant",
    "rule: quota of a tenant and a type",
    "rule: quota of every tenant",
    "rule: quota of every tenant and a type",
    "rule: quota of a profile",
    "rule: quota of a profile and a type",
    "rule: one meter for all",
    "rule: counted by tenant",
    "rule: counted by type",
    "rule: counted by queue",
    "rule: counted by source",
    "rule: for a beginning of types",
    "rule: for a beginning of tenants",
    "rule: for a queue",
    "rule: for a source",
    "rule: with max_active",
    "rule: with a rate",
    "rule: with starts in an hour",
    "rule: paused",
    "rule: with an end",
    "rule: quota with an end",
    "verdict: maintenance",
    "verdict: tenant_blocked",
    "verdict: paused",
    "verdict: rate_limit",
    "verdict: quota",
    "verdict: throttle",
    "verdict: limit",
    "permit back: succeeded",
    "permit back: failed",
    "permit back: failed, and is retried",
    "permit back: canceled by its worker",
    "permit back: timed out by its worker",
    "permit back: handed back",
    "permit back: lease lost",
    "permit back: lease lost at the last attempt",
    "permit back: silent after its deadline, and is retried",
    "permit back: released by an operator",
    "permit back: released at the last attempt",
    "permit back: canceled, and its worker stopped",
    "permit back: timed out, and its worker stopped",
    "permit back: ended, and handed back",
    "permit back: ended, and lease lost",
    "permit back: ended, and released by an operator",
    "chain: an event covers lines",
    "chain: an entity's event",
});

const char* name_of(ErrorCode code) {
    switch (code) {
        case ErrorCode::malformed: return "malformed";
        case ErrorCode::invalid: return "invalid";
        case ErrorCode::too_large: return "too_large";
        case ErrorCode::not_found: return "not_found";
        case ErrorCode::conflict: return "conflict";
        case ErrorCode::changed_meanwhile: return "changed_meanwhile";
        case ErrorCode::lease_lost: return "lease_lost";
        case ErrorCode::idempotency_mismatch: return "idempotency_mismatch";
        case ErrorCode::forbidden: return "forbidden";
        case ErrorCode::invalid_transition: return "invalid_transition";
        case ErrorCode::gate_closed: return "gate_closed";
        case ErrorCode::resource_failed: return "resource_failed";
        case ErrorCode::resource_not_failed: return "resource_not_failed";
        case ErrorCode::job_not_cancellable: return "job_not_cancellable";
        case ErrorCode::unavailable: return "unavailable";
        case ErrorCode::store_full: return "store_full";
        case ErrorCode::shutting_down: return "shutting_down";
    }
    return "";
}

}  // namespace

Coverage::Coverage() {
    for (const char* row : all_rows) rows_[row] = 0;
}

void Coverage::hit(const std::string& row) {
    const auto found = rows_.find(row);
    if (found == rows_.end()) throw std::logic_error("nobody expected \"" + row + "\"");
    ++found->second;
}

void Coverage::step(std::optional<JobState> from, Step step, std::optional<JobState> to) {
    if (step == Step::lease_closed) return hit("step: ended -lease_closed-> ended");
    hit(fmt::format("step: {} -{}-> {}", from ? to_text(*from) : "new", to_text(step),
                    to ? to_text(*to) : ""));
}

void Coverage::refusal(std::string_view command, ErrorCode code) {
    hit(fmt::format("refused: {}, {}", command, name_of(code)));
}

void Coverage::no_answer(std::string_view command) {
    hit(fmt::format("no answer: {}", command));
}

void Coverage::fault(std::string_view what) {
    hit(fmt::format("fault: {}", what));
}

void Coverage::removal(JobState outcome) {
    hit(fmt::format("removed: {}", to_text(outcome)));
}

void Coverage::kept(std::string_view what) {
    hit(fmt::format("kept: {}", what));
}

void Coverage::chain(std::string_view what) {
    hit(fmt::format("chain: {}", what));
}

void Coverage::rule(std::string_view shape) {
    hit(fmt::format("rule: {}", shape));
}

void Coverage::verdict(std::string_view code) {
    hit(fmt::format("verdict: {}", code));
}

void Coverage::permit_back(std::string_view way) {
    hit(fmt::format("permit back: {}", way));
}

void Coverage::add(const Coverage& other) {
    for (const auto& [row, count] : other.rows_) rows_[row] += count;
}

std::uint64_t Coverage::faults() const {
    std::uint64_t sum = 0;
    for (const auto& [row, count] : rows_) sum += row.starts_with("fault: ") ? count : 0;
    return sum;
}

std::vector<std::string> Coverage::never_hit() const {
    std::vector<std::string> found;
    for (const auto& [row, count] : rows_) {
        if (count == 0) found.push_back(row);
    }
    return found;
}

std::string Coverage::table() const {
    std::string text;
    for (const char* row : all_rows) text += fmt::format("{:>12}  {}\n", rows_.at(row), row);
    return text;
}

}  // namespace sluice::simulation
