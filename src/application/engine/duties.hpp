#pragma once

#include <array>
#include <span>
#include <string_view>
#include <vector>

#include "application/jobs/remove_old_jobs.hpp"
#include "application/jobs/workers.hpp"
#include "application/toolkit/transaction.hpp"

namespace sluice {

// Work that is done without a command, where it runs, and the items that it counts. Metrics and
// documents use these names; docs/architecture.md says how to add one.
struct DutyName {
    std::string_view name;
    std::string_view items;
};

namespace duty {
// Run by the engine, in its transactions.
inline constexpr DutyName deadlines{"deadlines", "jobs whose deadline has come"};
inline constexpr DutyName leases{"leases", "leases that ran out"};
inline constexpr DutyName keys{"idempotency_keys", "idempotency keys that were forgotten"};
inline constexpr DutyName workers{"workers", "nothing: workers that were not seen are forgotten"};
inline constexpr DutyName retention{"retention", "jobs that were removed"};
inline constexpr DutyName sources{"sources", "sources of jobs that were forgotten"};
inline constexpr DutyName ended_rules{"ended_rules", "rules whose end has come, and were lifted"};
// Run by the housekeeper of a PostgreSQL store, on the node that has the duty.
inline constexpr DutyName windows{"windows", "nothing: windows of the next weeks are there"};
inline constexpr DutyName old_windows{"old_windows", "windows that were dropped"};
inline constexpr DutyName older_nodes{
    "older_nodes", "nothing: what nodes of older versions left out is filled in"};
inline constexpr DutyName left_behind{
    "left_behind", "jobs that waited at keys which nobody holds, and were let forward"};
inline constexpr DutyName limits{"limits",
                                 "rows of meters and sources whose rules, seats or hours are gone"};
inline constexpr DutyName vacuum{"vacuum", "tables of the queue that were vacuumed"};
// Run by the server, on its I/O thread.
inline constexpr DutyName streams{"streams", "nothing: streams get their signs of life"};
inline constexpr DutyName stuck{"stuck", "nothing: commands that wait for too long are answered"};
inline constexpr DutyName access{"access", "nothing: tokens are read again"};
inline constexpr DutyName seal{"seal", "nothing: the key of lease ids is asked for"};
inline constexpr DutyName elsewhere{"elsewhere", "nothing: streams look for what other nodes did"};

inline constexpr std::array all{deadlines,   leases,      keys,     workers,     retention,
                                sources,     ended_rules, windows,  old_windows, older_nodes,
                                left_behind, limits,      vacuum,   streams,     stuck,
                                access,      seal,        elsewhere};
}  // namespace duty

// The duties of the engine: a table with the time and the work of each. One run does a bounded part
// of a duty. Of several committers one has most duties.
class Duties {
  public:
    struct Options {
        bool sweeps = true;  // this committer has the duties that only one needs to do
        Duration idempotency_memory{};
        Retention retention{};
    };

    Duties(Options options, Workers& workers);

    // When in a transaction a duty has its turn.
    enum class Turn {
        after_workers,  // after messages of workers, before commands of clients
        last,
        apart,  // in a transaction of its own: no command is refused because it fails
    };

    // Runs the duties of this turn that are due. The work of a run counts once the transaction is
    // committed; if it is not, a later run finds the same items again. A duty that fails, or whose
    // transaction fails, is not due again at once.
    void run(Transaction& tx, Turn turn, StoreSpace space);

    bool is_due(Turn turn, Timestamp now) const;

    // When a duty has work even if no command comes, or `never`.
    Timestamp next_due() const;

    // When a lease, a deadline or a queued job is due, as the store says.
    void store_is_due(Timestamp moment) { store_due_ = moment; }
    void store_may_be_due(Timestamp moment) { store_due_ = std::min(store_due_, moment); }

    // The runs since the last call, in a transaction that was committed or was not.
    std::vector<DutyRun> take_runs(bool committed);
    // The same for a duty that failed in a transaction of its own.
    std::vector<DutyRun> take_failed(const std::string& why);

  private:
    struct Duty;
    static constexpr std::size_t duties_count = 6;
    static std::span<const Duty> table();

    struct Part {  // the items of one run, and whether there are more
        int items = 0;
        bool more = false;
        Duration rest{};  // when there are no more: no run before
    };
    struct Run {
        DutyRun told;
        std::size_t row = 0;
        Timestamp next{};  // when it is due again, once it is committed
    };
    Timestamp due_of(std::size_t row) const;
    Part end_overdue(Transaction& tx, int limit);
    Part expire(Transaction& tx, int limit);
    Part forget_keys(Transaction& tx, int limit);
    Part forget_workers(Transaction& tx, int limit);
    Part remove_jobs(Transaction& tx, int limit);
    Part forget_sources(Transaction& tx, int limit);

    Options options_;
    Workers& workers_;
    RemoveOldJobs old_jobs_;
    Timestamp store_due_{};                      // at first: at once
    std::array<Timestamp, duties_count> due_{};  // of each row of the table
    std::array<int, duties_count> failures_{};   // in a row
    std::vector<Run> runs_;
};

}  // namespace sluice
