#pragma once

#include <span>
#include <vector>

#include "infrastructure/committer.hpp"

namespace sluice {

// Several committers over one shared store, behind one queue. Claims, and what is asked about them,
// go to the first, where claims wait; all else is spread over the others by job.
class CommitterPool : public CommandQueue {
  public:
    // They outlive the pool. One is enough.
    explicit CommitterPool(std::vector<Committer*> committers);

    void forget(std::uint64_t ticket) override { committers_.front()->forget(ticket); }
    void ask_ready(std::function<void(std::optional<Error>)> done) override;
    void stop_waiting();
    void hint(const std::vector<Readied>& readied, Timestamp due);

  protected:
    bool add(Route route, Load load, const std::function<void(Batch&)>& put) override;

  private:
    std::vector<Committer*> committers_;
    std::size_t next_ = 0;  // of those that take what is about no job yet
};

}  // namespace sluice
