#pragma once

#include <sys/types.h>

namespace sluice::worker {

// Whether a process of this group runs, as far as /proc tells. A process that has ended and was not
// reaped yet does not count, though kill(2) still finds it.
bool has_live_process(pid_t group);

}  // namespace sluice::worker
