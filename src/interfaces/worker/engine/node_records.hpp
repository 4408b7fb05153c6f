#pragma once

#include "application/ports/query_queue.hpp"
#include "interfaces/worker/engine/engine_desk.hpp"
#include "interfaces/worker/executors/executor.hpp"

namespace sluice::worker {

// Finds nodes among the entities of the kind "node" of the engine in this process. Called on any
// thread but the I/O thread; unavailable when the store does not answer within ten seconds. The
// queue must outlive every call.
FindNode node_records(QueryQueue& queries, OnIoThread on_io_thread);

}  // namespace sluice::worker
