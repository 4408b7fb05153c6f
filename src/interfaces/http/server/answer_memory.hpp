#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <utility>

namespace sluice::http {

class Connection;

// Counts of large answers since the start.
struct AnswerFigures {
    std::size_t bytes = 0;      // on their way out now
    std::uint64_t cut = 0;      // readers that were cut for others
    std::uint64_t refused = 0;  // answers for which there was no memory in time
};

// Counts the bytes of answers that are on their way out, in all connections of a server, and keeps
// the list of those that wait for memory. Used on the I/O thread only.
//
// A connection has a small share of its own, which is not counted: so that answers of the usual
// size get through when others hold all memory.
class AnswerMemory {
  public:
    static constexpr std::size_t own_share = 16 * 1024;

    // `on_freed` is called when there may be memory for one that waits.
    AnswerMemory(std::size_t limit, std::function<void()> on_freed)
        : limit_(limit), on_freed_(std::move(on_freed)) {}

    // Whether a connection that is counted with `held` bytes may have `wanted`.
    bool fits(std::size_t held, std::size_t wanted) const {
        return wanted <= own_share || bytes_ - held + wanted <= limit_;
    }

    // Whether a connection could have so many if it were alone.
    bool could_fit(std::size_t wanted) const { return wanted <= limit_; }

    // Counts a connection with `wanted` bytes from now on; `held` is its count so far.
    void count(std::size_t& held, std::size_t wanted);

    void note_cut() { ++cut_; }
    void note_refused() { ++refused_; }
    AnswerFigures figures() const { return {bytes_, cut_, refused_}; }

    // Connections that wait for memory, the first one first.
    void wait(Connection& connection) { waiting_.push_back(&connection); }
    void leave(const Connection& connection);
    Connection* first_waiting() const { return waiting_.empty() ? nullptr : waiting_.front(); }

  private:
    std::size_t limit_;
    std::function<void()> on_freed_;
    std::size_t bytes_ = 0;
    std::uint64_t cut_ = 0;
    std::uint64_t refused_ = 0;
    std::deque<Connection*> waiting_;
};

}  // namespace sluice::http
