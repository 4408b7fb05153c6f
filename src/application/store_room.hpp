#pragma once

#include <cstddef>

#include "application/commands.hpp"

// How much room the store has left, and which commands are run then.
//
//     roomy ──a write does not fit──▶ reserve ──nor does this one──▶ full
//       ▲                              │   ▲                          │
//       └──────there is room again─────┘   └───────a write fits───────┘
//
// A disk that gets full must not throw finished work away: before it is, the store keeps a reserve,
// which is given up so that what runs can go on and end, while nothing new is taken.
namespace sluice {

enum class StoreRoom {
    roomy,    // the reserve is untouched, or the store needs none
    reserve,  // it was given up, for what runs
    full,     // and is used up
};

// Where a store with a reserve stands. The store itself gives the reserve up and takes it back.
class RoomState {
  public:
    explicit RoomState(StoreRoom start = StoreRoom::roomy) : room_(start) {}

    StoreRoom room() const { return room_; }

    // A write did not fit. True: the reserve is to be given up now, and the same tried again.
    bool did_not_fit() {
        const bool has_reserve = room_ == StoreRoom::roomy;
        room_ = has_reserve ? StoreRoom::reserve : StoreRoom::full;
        return has_reserve;
    }

    // A write went through.
    void fitted() {
        if (room_ == StoreRoom::full) room_ = StoreRoom::reserve;
    }

    // The reserve is kept again.
    void taken_back() { room_ = StoreRoom::roomy; }

    // Whether it may be taken back: what is free must hold the reserve, and as much again, so that
    // the next few jobs do not use it up.
    static bool may_take_back(std::size_t free_bytes, std::size_t reserve_bytes) {
        return free_bytes / 2 >= reserve_bytes;
    }

  private:
    StoreRoom room_;
};

// What a command means for the room that is left. One that is not listed here adds work.
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
inline constexpr Burden burden_of<AppendLogs> = Burden::logs;
template <>
inline constexpr Burden burden_of<ExplainJob> = Burden::only_asks;
template <>
inline constexpr Burden burden_of<AskDepths> = Burden::only_asks;
template <>
inline constexpr Burden burden_of<AskWorkers> = Burden::only_asks;

// Log lines are stored from the reserve up to this many bytes, so that they do not take the room
// of reports.
inline constexpr std::size_t log_bytes_in_reserve = 256 * 1024;

// `log_bytes` were stored since the reserve was given up.
constexpr bool may_run(Burden burden, StoreRoom room, std::size_t log_bytes = 0) {
    if (room == StoreRoom::roomy) return true;
    switch (burden) {
        case Burden::only_asks:
        case Burden::ends_work: return true;
        case Burden::logs: return log_bytes < log_bytes_in_reserve;
        case Burden::adds_work: return false;
    }
    return false;
}

// The refusal of what may not be run, or did not fit.
inline Error store_full_error() {
    return {ErrorCode::store_full,
            "the disk of the store is full: jobs that run can end, and nothing new is taken until "
            "there is room",
            ""};
}

}  // namespace sluice
