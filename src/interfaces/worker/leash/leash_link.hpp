#pragma once

#include <sys/types.h>

#include <atomic>
#include <chrono>
#include <map>
#include <mutex>
#include <thread>
#include <vector>

#include "interfaces/worker/leash/leash_messages.hpp"
#include "interfaces/worker/leash/turn_taking.hpp"

namespace sluice::worker {

// The worker's end of one leash process, from its start to its end. Any thread.
//
// A thread watches over the leash itself. When the leash dies, every group on it is killed from
// here. When a group is not gone a second after it should be, a command does not start, or the
// socket stays full, the leash is woken, and a leash that does nothing at all for a while is
// killed, with the same consequence. A leash that is merely busy is left alone.
class LeashLink {
  public:
    LeashLink();  // starts the process; throws std::system_error
    ~LeashLink();
    LeashLink(const LeashLink&) = delete;
    LeashLink& operator=(const LeashLink&) = delete;

    // Names a command on this leash.
    struct Ticket {
        std::uint64_t child = 0;  // 0: none
        std::uint32_t slot = 0;
    };

    // From enter() to leave(), the command has a slot. Throws std::system_error when all are taken.
    // leave() ends a group that is still there.
    Ticket enter(std::chrono::nanoseconds must_end_by, std::chrono::milliseconds notice);
    void leave(const Ticket& ticket);
    void over(const Ticket& ticket);  // it has ended, and is not watched any more

    // As in Leash::Child. They never wait, and they always reach a leash that lives.
    void end_by(const Ticket& ticket, std::chrono::nanoseconds moment,
                std::chrono::milliseconds notice);
    void stop(const Ticket& ticket, std::chrono::nanoseconds kill_at);

    // Waits, in the order of the calls, while the leash has many commands to start already.
    // False: the leash is gone, and the command will not be started. Throws std::system_error.
    bool send_start(const Ticket& ticket, const Command& command, int report);

    // Kills the group and waits for its end, briefly; false when the command was never started.
    bool kill_group(const Ticket& ticket);

    bool is_broken() const { return broken_; }

    // Ends the leash process, and with it all commands on it.
    void close();

  private:
    struct Watched {
        std::uint32_t slot = 0;
        std::chrono::nanoseconds sent_at{};  // zero: not yet
    };

    void start_process();
    bool transmit(const StartOrder& order, const std::string& text,
                  const std::vector<int>& descriptors);
    void wake_leash();  // makes it look at the board
    void watch();
    void look_after(std::chrono::nanoseconds now);
    bool is_overdue(const Watched& watched, std::chrono::nanoseconds now) const;
    void give_up();  // kills the leash process; mutex_ is held
    void finish();   // cleans up when it is gone
    void kill_all();
    void reap_process();

    LeashBoard board_;  // a negative pid: the leash is gone, and the group was killed from here
    Descriptor socket_;
    Descriptor leash_wake_;
    Descriptor wake_;
    std::atomic<bool> broken_ = false;
    std::atomic<bool> sender_waits_ = false;

    TurnTaking sending_;      // guards the sending end of the socket, and:
    std::uint64_t sent_ = 0;  // messages

    std::mutex mutex_;   // guards the members below
    pid_t process_ = 0;  // 0: reaped
    std::map<std::uint64_t, Watched> watched_;
    std::vector<std::uint32_t> free_slots_;
    std::uint32_t next_slot_ = 0;
    std::uint64_t next_child_ = 1;
    bool asleep_ = false;  // the watching thread waits until it is woken
    bool closing_ = false;
    std::uint64_t steps_seen_ = 0;  // of the leash
    int idle_looks_ = 0;            // in a row in which it did nothing, although it had work

    std::thread watcher_;
};

}  // namespace sluice::worker
