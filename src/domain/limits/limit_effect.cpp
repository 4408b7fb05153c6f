#include "domain/limits/limit_effect.hpp"

#include <algorithm>

namespace sluice {
namespace {

// Walks through the lanes and starts their jobs, to find out what changes.
class Effect {
  public:
    Effect(std::span<const WaitingJobs> waiting, Timestamp now) : waiting_(waiting), now_(now) {
        for (const WaitingJobs& jobs : waiting) left_.push_back(jobs.count);
    }

    LimitEffect of_change() {
        start_by_both();
        effect_.held_back = start_more(&WaitingJobs::before);
        effect_.let_go = start_more(&WaitingJobs::after);
        for (std::size_t i = 0; i < waiting_.size(); ++i) add_covered(waiting_[i], left_[i]);
        return effect_;
    }

  private:
    void start_by_both() {
        std::vector<PermitNow> both;
        for (std::size_t i = 0; i < waiting_.size(); ++i) {
            both = waiting_[i].before;
            both.insert(both.end(), waiting_[i].after.begin(), waiting_[i].after.end());
            left_[i] -= start_some(left_[i], both, now_);
        }
    }

    std::int64_t start_more(std::vector<PermitNow> WaitingJobs::*permits) {
        std::int64_t all = 0;
        for (std::size_t i = 0; i < waiting_.size(); ++i) {
            if (left_[i] == 0) continue;
            const std::int64_t count = start_some(left_[i], waiting_[i].*permits, now_);
            effect_.is_more = effect_.is_more || (waiting_[i].is_more && count == left_[i]);
            all += count;
        }
        return all;
    }

    void add_covered(const WaitingJobs& jobs, std::int64_t left) {
        if (jobs.is_covered) {
            effect_.covered += jobs.count;
            effect_.is_more_covered = effect_.is_more_covered || jobs.is_more;
        }
        const bool are_there_others = jobs.is_more && left == 0;
        if (are_there_others && room_of(jobs.before, now_) != room_of(jobs.after, now_)) {
            effect_.is_more = true;
        }
    }

    std::span<const WaitingJobs> waiting_;
    Timestamp now_;
    std::vector<std::int64_t> left_;  // that do not start by both
    LimitEffect effect_;
};

}  // namespace

std::int64_t room_of(std::span<const PermitNow> permits, Timestamp now) {
    std::int64_t room = unbounded;
    for (const PermitNow& permit : permits) {
        room = std::min(room, room_of(*permit.rule, *permit.meter, now).count);
    }
    return room;
}

std::int64_t start_some(std::int64_t waiting, std::span<const PermitNow> permits, Timestamp now) {
    const std::int64_t count = std::min(waiting, room_of(permits, now));
    for (const PermitNow& permit : permits) note_starts(*permit.rule, *permit.meter, now, count);
    return count;
}

LimitEffect effect_on(std::span<const WaitingJobs> waiting, Timestamp now) {
    return Effect(waiting, now).of_change();
}

}  // namespace sluice
