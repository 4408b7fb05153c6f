#pragma once

#include <cstddef>

#include "application/ports/commands.hpp"

// How much space the store has left, and which commands are run then.
//
//     ample ──a write does not fit──▶ reserve ──nor does this one──▶ full
//       ▲                              │   ▲                          │
//       └─────there is space again─────┘   └───────a write fits───────┘
//
// A full disk must not cost finished work: while there is space, the store keeps a reserve, which
// is given up so that running jobs can go on and end, while no new work is taken.
namespace sluice {

enum class StoreSpace {
    ample,    // the reserve is untouched, or the store needs none
    reserve,  // it was given up, for running jobs
    full,     // and is used up
};

// The state of a store with a reserve. The store itself gives the reserve up and takes it back.
class ReserveState {
  public:
    explicit ReserveState(StoreSpace start = StoreSpace::ample) : space_(start) {}

    StoreSpace space() const { return space_; }

    // A write did not fit. True: the reserve is to be given up now, and the write tried again.
    bool did_not_fit() {
        const bool has_reserve = space_ == StoreSpace::ample;
        space_ = has_reserve ? StoreSpace::reserve : StoreSpace::full;
        return has_reserve;
    }

    // A write went through.
    void fitted() {
        if (space_ == StoreSpace::full) space_ = StoreSpace::reserve;
    }

    // The reserve is kept again.
    void taken_back() { space_ = StoreSpace::ample; }

    // Whether the reserve may be taken back: the free space must hold it, and as much again, so
    // that the next few jobs do not use it up.
    static bool may_take_back(std::size_t free_bytes, std::size_t reserve_bytes) {
        return free_bytes / 2 >= reserve_bytes;
    }

  private:
    StoreSpace space_;
};

// How a command uses the space that is left. A command that is not listed here adds work.
enum class Burden { only_asks, ends_work, logs, adds_work };

template <class Command>
inline constexpr Burden burden_of = Burden::adds_work;
template <>
inline constexpr Burden burden_of<Heartbeat> = Burden::ends_work;
template <>
inline constexpr Burden burden_of<Report> = Burden::ends_work;
template <>
inline constexpr Burden burden_of<HandBack> = Burden::ends_work;
template <>
inline constexpr Burden burden_of<CancelJob> = Burden::ends_work;
template <>
inline constexpr Burden burden_of<ReleaseLease> = Burden::ends_work;
template <>
inline constexpr Burden burden_of<AppendLogs> = Burden::logs;
template <>
inline constexpr Burden burden_of<ExplainJob> = Burden::only_asks;
template <>
inline constexpr Burden burden_of<AskDepths> = Burden::only_asks;
template <>
inline constexpr Burden burden_of<AskWorkers> = Burden::only_asks;
template <>
inline constexpr Burden burden_of<AskLimits> = Burden::only_asks;
template <>
inline constexpr Burden burden_of<AskStart> = Burden::only_asks;
template <>
inline constexpr Burden burden_of<AskSources> = Burden::only_asks;
template <>
inline constexpr Burden burden_of<CheckMeters> = Burden::only_asks;
// To pause or throttle work must be possible while the disk is full.
template <>
inline constexpr Burden burden_of<ChangeLimits> = Burden::ends_work;

// Log lines are stored from the reserve up to this many bytes, so that they do not take the space
// of reports.
inline constexpr std::size_t log_bytes_in_reserve = 256 * 1024;

// `log_bytes` were stored since the reserve was given up.
constexpr bool may_run(Burden burden, StoreSpace space, std::size_t log_bytes = 0) {
    if (space == StoreSpace::ample) return true;
    switch (burden) {
        case Burden::only_asks:
        case Burden::ends_work: return true;
        case Burden::logs: return log_bytes < log_bytes_in_reserve;
        case Burden::adds_work: return false;
    }
    return false;
}

// The refusal of a command that may not be run, or did not fit.
inline Error store_full_error() {
    return {ErrorCode::store_full,
            "the disk of the store is full: jobs that run can end, and nothing new is taken until "
            "there is room",
            ""};
}

}  // namespace sluice
