#pragma once

#include <memory>
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

    // Answers those that have asked before a commit took too long, and would wait for its end.
    // Called on the I/O thread, now and then.
    void answer_stuck();

    void stop_waiting();
    void hint(const std::vector<Readied>& readied, Timestamp due);

  protected:
    bool add(Route route, Load load, const std::function<void(Batch&)>& put) override;

  private:
    struct Asked {
        std::function<void(std::optional<Error>)> done;  // none: it was answered
        std::size_t left = 0;                            // committers that have not answered

        void answer(const std::optional<Error>& reason);
    };

    std::vector<Committer*> committers_;
    std::vector<std::shared_ptr<Asked>> asked_;  // whether they are ready
    std::size_t next_ = 0;                       // of those that take what is about no job yet
};

}  // namespace sluice
