#include "infrastructure/commit/committer_pool.hpp"

#include <utility>

#include "domain/values/check.hpp"

namespace sluice {

CommitterPool::CommitterPool(std::vector<Committer*> committers)
    : committers_(std::move(committers)) {
    check(!committers_.empty(), "somebody commits");
}

// All answers arrive on one thread.
void CommitterPool::ask_ready(std::function<void(std::optional<Error>)> done) {
    const auto asked = std::make_shared<Asked>(Asked{std::move(done), committers_.size()});
    asked_.push_back(asked);
    for (Committer* committer : committers_) {
        committer->ask_ready([asked](const std::optional<Error>& reason) {
            --asked->left;
            if (reason || asked->left == 0) asked->answer(reason);
        });
    }
}

void CommitterPool::Asked::answer(const std::optional<Error>& reason) {
    if (done) std::exchange(done, nullptr)(reason);
}

void CommitterPool::answer_stuck() {
    std::erase_if(asked_, [](const auto& asked) { return !asked->done; });
    if (asked_.empty()) return;
    for (Committer* committer : committers_) {
        const std::optional<Error> reason = committer->why_stuck();
        if (!reason) continue;
        for (const auto& asked : asked_) asked->answer(reason);
        return;
    }
}

void CommitterPool::stop_waiting() {
    for (Committer* committer : committers_) committer->stop_waiting();
}

// Only the first committer has waiting claims and looks for due work.
void CommitterPool::hint(const std::vector<Readied>& readied, Timestamp due) {
    committers_.front()->hint(readied, due);
}

bool CommitterPool::add(Route route, Load load, const std::function<void(Batch&)>& put) {
    const std::size_t others = committers_.size() - 1;
    if (others == 0 || route.to_claims) return committers_.front()->add(route, load, put);
    const std::size_t index = route.job != JobId{} ? std::hash<JobId>()(route.job) >> 32 : next_++;
    return committers_[1 + index % others]->add(route, load, put);
}

}  // namespace sluice
