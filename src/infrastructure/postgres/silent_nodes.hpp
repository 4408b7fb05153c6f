#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "infrastructure/postgres/connection.hpp"
#include "infrastructure/postgres/tick.hpp"

// A node that stands still in the middle of a transaction would keep its locks without limit: the
// server has time-outs for statements and for sessions that are idle, and none for one that waits
// for the rest of what its client has begun to send. So the others end the sessions of a node that
// fell silent. A session belongs to a node when it holds that node's mark
// (ConnectOptions::node_mark). The node finds its connections gone when it goes on, and learns from
// its seats what became of its commits.
namespace sluice::postgres {

// A node that gives no sign of life for as long has fallen silent: three looks of its watch, and no
// commit.
inline constexpr Duration silence_allowed = duty_term;

// The looks of one node at the others. Only who has looked in time, again and again, for as long as
// others were silent, can tell that it was them: else it was the node itself, or the database, that
// stood still. All times are the cluster's.
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
// duty, or the duty's time is over: of those that were silent for less than two minutes, or of all.
// Waits for nobody's locks. Outside of a transaction. Throws Refused when the role may not do so.
std::vector<SilentNode> end_silent_nodes(Connection& connection, std::int64_t own, Timestamp now,
                                         bool of_all);

}  // namespace sluice::postgres
