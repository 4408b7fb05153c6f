#include "infrastructure/committer_pool.hpp"

#include "domain/check.hpp"

namespace sluice {

CommitterPool::CommitterPool(std::vector<Committer*> committers)
    : committers_(std::move(committers)) {
    check(!committers_.empty(), "somebody commits");
}

// The answers arrive on one thread.
void CommitterPool::ask_ready(std::function<void(std::optional<Error>)> done) {
    struct Asked {
        std::function<void(std::optional<Error>)> done;
        std::size_t left = 0;
    };
    const auto asked = std::make_shared<Asked>(Asked{std::move(done), committers_.size()});
    for (Committer* committer : committers_) {
        committer->ask_ready([asked](const std::optional<Error>& reason) {
            --asked->left;
            if (!asked->done || (!reason && asked->left > 0)) return;
            std::exchange(asked->done, nullptr)(reason);
        });
    }
}

void CommitterPool::stop_waiting() {
    for (Committer* committer : committers_) committer->stop_waiting();
}

// Only the first one has claims that wait and looks at what is due.
void CommitterPool::hint(const std::vector<Readied>& readied, Timestamp due) {
    committers_.front()->hint(readied, due);
}

bool CommitterPool::add(Route route, Load load, const std::function<void(Batch&)>& put) {
    const std::size_t others = committers_.size() - 1;
    if (others == 0 || route.to_claims) return committers_.front()->add(route, load, put);
    const std::size_t place = route.job > JobId{} ? std::hash<JobId>()(route.job) >> 32 : next_++;
    return committers_[1 + place % others]->add(route, load, put);
}

}  // namespace sluice
