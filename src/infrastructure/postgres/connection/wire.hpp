#pragma once

#include <memory>
#include <span>

#include "infrastructure/postgres/connection/connection.hpp"

struct pg_conn;
struct pollfd;

namespace sluice::postgres {

struct Finish {
    void operator()(pg_conn* connection) const;
};
using Wire = std::unique_ptr<pg_conn, Finish>;

// Tries each host of the URL once; the exceptions are those of Connection. The wire that comes back
// never blocks, and is in pipeline mode.
Wire connect(const ConnectOptions& options);

// Waits until one of the sockets is ready; false when the patience was over before. Goes on waiting
// after a signal.
bool wait_for(std::span<pollfd> sockets, Millis patience);

}  // namespace sluice::postgres
