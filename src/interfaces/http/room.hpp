#pragma once

#include <vector>

#include "interfaces/http/answer_memory.hpp"
#include "interfaces/http/connection.hpp"

// Who has to go when there is no room for all. Whoever waits for an answer, or is told a stream,
// stays; and nobody goes who began after `newest`.

namespace sluice::http {

using Connections = std::vector<Connection*>;

// A place for a new connection. False: nobody can be cut.
bool make_room_for_connection(const Connections& all, Instant newest);

// Cuts the one that has sent least of its body in each second. False: that is `asking`, or nobody
// can be cut.
bool cut_slowest_body(const Connections& all, const Connection& asking, Instant newest,
                      Instant now);

// Memory for who waits for it: cuts those that have read least of their answers in each second, one
// by one, while nothing else makes room.
void make_room_for_waiting(const Connections& all, AnswerMemory& answers, Instant newest,
                           Instant now);

// Memory for an answer of `asking` that cannot be made again: of others, however
// young they are. There may be too little in spite of that.
void make_room_for_answer(const Connections& all, AnswerMemory& answers, const Connection& asking,
                          std::size_t bytes, Instant now);

}  // namespace sluice::http
