#pragma once

#include <functional>
#include <memory>

#include "application/ports/clock.hpp"
#include "application/ports/command_queue.hpp"
#include "client/runner/desk.hpp"

namespace sluice::worker {

// Runs a task on the I/O thread, where commands are posted and answered.
using OnIoThread = std::function<void(std::function<void()>)>;

// The gateway to the engine in this process: no socket and no JSON, so Job::json is empty. The
// queue must outlive every call; a call whose answer does not come within ten seconds beyond its
// wait is unavailable.
std::unique_ptr<client::Desk> engine_desk(CommandQueue& commands, Clock& clock,
                                          OnIoThread on_io_thread);

}  // namespace sluice::worker
