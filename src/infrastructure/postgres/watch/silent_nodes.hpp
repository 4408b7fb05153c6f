#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "infrastructure/postgres/connection/connection.hpp"
#include "infrastructure/postgres/watch/tick.hpp"

// A node that stands still in the middle of a transaction would keep its locks without limit: the
// server has time-outs for statements and for sessions that are idle, and none for a session that
// waits for the rest of a message. So the other nodes end the sessions of a node that fell silent.
// A session belongs to a node when it holds that node's mark (ConnectOptions::node_mark). When the
// silent node goes on it finds its connections gone, and learns the outcome of its commits from its
// seats.
namespace sluice::postgres {

// A node that gives no sign of life for so long has fallen silent: three looks of its watch, and no
// commit.
inline constexpr Duration silence_allowed = duty_term;

// The looks of one node at the others. Only a node that has looked in time, again and again, for as
// long as others were silent, can tell that they are silent: else it was the node itself, or the
// database, that stood still. All times are the cluster's.
class SteadyLooks {
  public:
    void add(Timestamp look);

    // Whether a look at this moment counts.
    bool counts(Timestamp look) const { return look <= counts_until(); }

    // The next look counts if it is not later than this.
    Timestamp counts_until() const;

    // No look before the next one counted.
    bool is_first() const { return is_first_; }

  private:
    bool is_steady() const { return last_ - since_ >= silence_allowed; }

    Timestamp last_{};
    Timestamp since_{};  // no look was late since
    bool is_first_ = true;
};

struct SilentNode {
    std::string name;
    int sessions = 0;  // that were ended
};

// Ends the sessions of nodes that are silent at `now`, and returns those nodes, if `own` has the
// duty, or the duty's term is over. Takes only nodes that were silent for less than two minutes,
// or, with `of_all`, every silent node. Waits for no locks. Outside of a transaction. Throws
// Refused when the role may not end the sessions.
std::vector<SilentNode> end_silent_nodes(Connection& connection, std::int64_t own, Timestamp now,
                                         bool of_all);

}  // namespace sluice::postgres
