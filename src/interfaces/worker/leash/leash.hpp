#pragma once

#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

// Keeps commands from outliving their leases.
//
// The leash is a small process of its own, started once. It starts every command, each in a process
// group of its own, and holds a moment for each at which the group must be gone. The worker moves
// that moment on while the engine renews the lease. When the worker dies, is paused, or cannot
// renew, the leash ends the group: SIGTERM first, SIGKILL in time. When a command ends, the rest of
// its group ends with it. A process that leaves the group (setsid) is no longer on the leash.
//
// When the leash dies or does not answer, the worker ends all groups itself, and the next command
// gets a new leash.
//
// Of the environment that this process had when the leash was started, commands have only the usual
// variables (command_environment.hpp). They have no controlling terminal, and no open descriptors
// beside those that they are given.
namespace sluice::worker {

struct Command {
    std::vector<std::string> argv{};                                 // never through a shell
    std::vector<std::pair<std::string, std::string>> environment{};  // beside the usual ones
    std::string directory{};                                         // empty: this process's
    int input = -1;  // descriptors for 0, 1, 2 and 3 of the command; -1: /dev/null, none for 3
    int output = -1;
    int errors = -1;
    int result = -1;
};

struct Exit {
    int code = -1;                 // when it ended by itself
    int signal = 0;                // when a signal ended it
    bool by_lease = false;         // it was told to end, since its time was up
    std::string not_started{};     // why it could not be started
    bool may_start_later = false;  // it was not started for lack of memory, processes and the like
};

class Leash {
  public:
    Leash();   // starts the process; throws std::system_error
    ~Leash();  // ends every command that still runs
    Leash(const Leash&) = delete;
    Leash& operator=(const Leash&) = delete;

    // One command that was started. Dropping it ends its group.
    class Child {
      public:
        ~Child();
        Child(Child&&) noexcept;
        Child& operator=(Child&&) noexcept;

        // The whole group must be gone at this moment of CLOCK_BOOTTIME; it gets SIGTERM `notice`
        // before. Later calls move it on, or back. Any thread; never waits.
        void must_end_by(std::chrono::nanoseconds moment, std::chrono::milliseconds notice);

        // SIGTERM to the group now, SIGKILL after `grace` at the latest. Any thread; never waits.
        void stop(std::chrono::milliseconds grace);

        // Becomes readable when the command has ended and its whole group is gone; for poll(2).
        int descriptor() const;

        // How it ended; nothing while it runs.
        std::optional<Exit> ended() const;

      private:
        friend class Leash;
        struct Shared;
        explicit Child(std::shared_ptr<Shared> shared);
        std::shared_ptr<Shared> shared_;
    };

    // Any thread. Returns before the command runs; when it cannot be started, ended() says why.
    // The descriptors stay the caller's.
    Child start(const Command& command, std::chrono::nanoseconds must_end_by,
                std::chrono::milliseconds notice);

  private:
    class Link;
    std::shared_ptr<Link> link_;
};

// The main function of the leash process; main() calls it for the argument "__leash".
int run_leash();

}  // namespace sluice::worker
