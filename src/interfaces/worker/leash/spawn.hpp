#pragma once

#include <sys/types.h>

#include <array>
#include <vector>

#include "interfaces/worker/leash/leash_messages.hpp"

namespace sluice::worker {

struct Spawned {
    pid_t pid = 0;  // also the id of its process group; 0: it could not be started
    int error = 0;  // errno
    StartStep step = StartStep::none;
};

// Starts the command in a process group of its own, with these descriptors as 0 to 3 (-1: this
// process's own 0 to 2, which are /dev/null in the leash, and none for 3) and no others, default
// signals and an empty mask. It is killed when this process dies. A name without a slash is looked
// up in PATH; a file without an interpreter line is not handed to a shell. Only for a process
// with a single thread: it waits until the command has taken over.
//
// The process id is in `pid_seen` before the command runs, and 0 when it could not be started.
Spawned spawn(CommandView& command, const std::array<int, 4>& descriptors,
              const std::vector<int>& ignored_signals, std::atomic<std::int32_t>& pid_seen);

// The signals that this process ignores, and a command should not.
std::vector<int> find_ignored_signals();

}  // namespace sluice::worker
