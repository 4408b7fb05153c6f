#pragma once

#include <vector>

#include "interfaces/http/connection.hpp"

// Who has to go when there is no room for all. Whoever waits for an answer, or is told a stream,
// stays; and nobody goes who has taken less than a second.

namespace sluice::http {

using Connections = std::vector<Connection*>;

// A place for a new connection. False: nobody can be cut.
bool make_room_for_connection(const Connections& all, Instant now);

// Cuts the one that has sent least of its body in each second. False: that is `asking`, or nobody
// can be cut.
bool cut_slowest_body(const Connections& all, const Connection& asking, Instant now);

// Cuts the one that has left its answer unread for longest. False: nobody can be cut.
bool cut_slowest_reader(const Connections& all, Instant now);

}  // namespace sluice::http
