#pragma once

#include <memory>
#include <vector>

#include "infrastructure/commit/committer.hpp"

namespace sluice {

// Several committers over one shared store, behind one queue. Claims, and questions about them, go
// to the first, where claims wait; all other commands are spread over the others by job.
class CommitterPool : public CommandQueue {
  public:
    // The committers outlive the pool. One is enough.
    explicit CommitterPool(std::vector<Committer*> committers);

    void forget(std::uint64_t ticket) override { committers_.front()->forget(ticket); }
    void ask_ready(std::function<void(std::optional<Error>)> done) override;

    // Answers readiness checks that wait for a commit that takes too long. Called on the I/O
    // thread, now and then.
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
    std::vector<std::shared_ptr<Asked>> asked_;  // open readiness checks
    std::size_t next_ = 0;                       // for commands that are about no job yet
};

}  // namespace sluice
