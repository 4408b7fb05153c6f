#include "application/engine/duties.hpp"

#include <algorithm>
#include <string>
#include <utility>

#include "application/leases/expire_leases.hpp"

namespace sluice {

using namespace std::chrono_literals;

namespace {

// How long a duty that has failed so often waits for its next try.
Duration wait_after(int failures) {
    return std::min<Duration>(10s * (1 << std::min(failures - 1, 6)), 10min);
}

}  // namespace

// One row of the table.
struct Duties::Duty {
    DutyName name;
    Turn turn;
    // The store names the moment, or it is a period after the last run.
    enum { when_store_says, with_a_run, by_itself } when;
    bool everywhere;   // each committer has it
    bool needs_space;  // on the store's disk
    Duration period;   // until the next run once all is done
    Duration pause;    // until the next run when there is more
    int limit;         // of one run, so that a flood does not hold up the other duties
    Part (Duties::*work)(Transaction& tx, int limit);
};

// Deadlines come before leases: a job that has run into both has timed out. Retention yields to new
// commands after each small part, so that they wait for one part at the most.
std::span<const Duties::Duty> Duties::table() {
    using enum Turn;
    static constexpr Duty rows[] = {
        {duty::deadlines, after_workers, Duty::when_store_says, false, false, 0s, 0s, 1000,
         &Duties::end_overdue},
        {duty::leases, after_workers, Duty::when_store_says, false, false, 0s, 0s, 1000,
         &Duties::expire},
        {duty::keys, last, Duty::with_a_run, true, false, 2min, 0s, 1000, &Duties::forget_keys},
        {duty::workers, last, Duty::with_a_run, true, false, 2min, 0s, 0, &Duties::forget_workers},
        {duty::retention, apart, Duty::by_itself, false, true, 10s, 20ms, 100,
         &Duties::remove_jobs},
        {duty::sources, apart, Duty::with_a_run, false, true, 1h, 20ms, 1000,
         &Duties::forget_sources},
    };
    static_assert(std::size(rows) == duties_count);
    return rows;
}

Duties::Duties(Options options, Workers& workers)
    : options_(options), workers_(workers), old_jobs_(options.retention) {
    for (std::size_t i = 0; i < due_.size(); ++i) {
        const bool is_retention = table()[i].name.name == duty::retention.name;
        if (is_retention && options_.retention == Retention{}) due_[i] = never;
    }
}

Timestamp Duties::due_of(std::size_t row) const {
    const Duty& duty = table()[row];
    if (!duty.everywhere && !options_.sweeps) return never;
    return duty.when == Duty::when_store_says ? store_due_ : due_[row];
}

bool Duties::is_due(Turn turn, Timestamp now) const {
    for (std::size_t i = 0; i < due_.size(); ++i) {
        if (table()[i].turn == turn && due_of(i) <= now) return true;
    }
    return false;
}

// The next time is set before the run: should it fail, the next transaction must not fail with it.
void Duties::run(Transaction& tx, Turn turn, StoreSpace space) {
    for (std::size_t i = 0; i < due_.size(); ++i) {
        const Duty& duty = table()[i];
        if (duty.turn != turn || due_of(i) > tx.now()) continue;
        if (duty.needs_space && space != StoreSpace::ample) {
            due_[i] = tx.now() + duty.period;
            continue;
        }
        due_[i] = tx.now() + wait_after(++failures_[i]);
        runs_.push_back({.told = {.duty = duty.name.name, .at = tx.now()}, .row = i});
        const Part part = (this->*duty.work)(tx, duty.limit);
        runs_.back().told.items = part.items;
        runs_.back().next = tx.now() + (part.more ? duty.pause : std::max(duty.period, part.rest));
    }
}

Timestamp Duties::next_due() const {
    if (!options_.sweeps) return never;
    Timestamp next = store_due_;
    for (std::size_t i = 0; i < due_.size(); ++i) {
        if (table()[i].when == Duty::by_itself) next = std::min(next, due_[i]);
    }
    return next;
}

std::vector<DutyRun> Duties::take_runs(bool committed) {
    std::vector<DutyRun> told;
    for (Run& run : std::exchange(runs_, {})) {
        run.told.failed = !committed;
        told.push_back(std::move(run.told));
        if (!committed) continue;
        due_[run.row] = run.next;
        failures_[run.row] = 0;
    }
    return told;
}

std::vector<DutyRun> Duties::take_failed(const std::string& why) {
    std::vector<DutyRun> told = take_runs(false);
    for (DutyRun& run : told) run.error = why;
    return told;
}

Duties::Part Duties::end_overdue(Transaction& tx, int limit) {
    return {.items = end_overdue_jobs(tx, limit)};
}

Duties::Part Duties::expire(Transaction& tx, int limit) {
    return {.items = expire_leases(tx, limit)};
}

Duties::Part Duties::forget_keys(Transaction& tx, int limit) {
    const Timestamp before = tx.now() - options_.idempotency_memory;
    const int forgotten = tx.idempotency().forget_before(before, limit);
    return {.items = forgotten, .more = forgotten == limit};
}

Duties::Part Duties::forget_workers(Transaction& tx, int) {
    workers_.forget_old(tx.now());
    return {};
}

Duties::Part Duties::forget_sources(Transaction& tx, int limit) {
    const int forgotten = tx.limits().forget_sources(tx.now(), limit);
    return {.items = forgotten, .more = forgotten == limit};
}

Duties::Part Duties::remove_jobs(Transaction& tx, int limit) {
    const int removed = old_jobs_.run(tx, limit);
    return {
        .items = removed, .more = !old_jobs_.has_seen_all(), .rest = old_jobs_.rest_after_walk()};
}

}  // namespace sluice
