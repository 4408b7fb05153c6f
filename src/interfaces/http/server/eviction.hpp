#pragma once

#include <vector>

#include "interfaces/http/server/answer_memory.hpp"
#include "interfaces/http/server/connection.hpp"

// Which connections are closed when there are too many, or too little memory for all of them. A
// connection that waits for the engine's answer, or receives a stream, is never evicted, nor is one
// that began after `newest`.

namespace sluice::http {

using Connections = std::vector<Connection*>;

// Evicts one connection in favour of a new one. False: none can be evicted.
bool evict_for_connection(const Connections& all, Instant newest);

// Evicts the connection that has sent least of its body in each second. False: that is `asking`, or
// none can be evicted.
bool evict_slowest_body(const Connections& all, const Connection& asking, Instant newest,
                        Instant now);

// Frees memory for the first connection that waits for it: evicts those that have read least of
// their answers in each second, one by one, until there is enough.
void evict_for_waiting(const Connections& all, AnswerMemory& answers, Instant newest, Instant now);

// Frees memory for an answer of `asking` that cannot be made again: evicts others, however young
// they are. There may be too little in spite of that.
void evict_for_answer(const Connections& all, AnswerMemory& answers, const Connection& asking,
                      std::size_t bytes, Instant now);

}  // namespace sluice::http
