#include "client/runner/slots.hpp"

#include <system_error>

namespace sluice::client {
namespace {

// Slots that become free within this time are filled by one claim.
constexpr std::chrono::microseconds gathering_time{100};

}  // namespace

void Slots::open() {
    const std::lock_guard lock(mutex_);
    start_thread();
}

void Slots::start_thread() {
    Thread& own = threads_.emplace_back();
    try {
        own.thread = std::thread([self = shared_from_this(), &own] { self->serve(own); });
    } catch (...) {
        threads_.pop_back();
        throw;
    }
}

int Slots::wait_for_free() {
    std::unique_lock lock(mutex_);
    any_will_do_ = true;
    freed_.wait(lock, [&] { return busy_ < count_ || is_closed_; });
    any_will_do_ = false;
    if (busy_ > 0 && !is_closed_) {
        freed_.wait_for(lock, gathering_time, [&] { return busy_ == 0 || is_closed_; });
    }
    return is_closed_ ? 0 : count_ - busy_;
}

bool Slots::push(const std::vector<AttemptPtr>& attempts) {
    const std::lock_guard lock(mutex_);
    if (is_closed_) return false;
    busy_ += static_cast<int>(attempts.size());
    waiting_.insert(waiting_.end(), attempts.begin(), attempts.end());
    call_one();
    return true;
}

// Starts or wakes a thread for the next waiting attempt. That thread calls the next one before it
// starts its own work, so that many short jobs do not wake more threads than they keep busy.
void Slots::call_one() {
    if (waiting_.empty()) return;
    if (idle_ > 0) {
        pushed_.notify_one();
        return;
    }
    if (threads_.size() >= static_cast<std::size_t>(count_)) return;
    try {
        start_thread();
    } catch (const std::system_error&) {
        // The existing threads run the waiting attempts, one after the other.
    }
}

void Slots::serve(Thread& own) {
    std::unique_lock lock(mutex_);
    for (;;) {
        ++idle_;
        pushed_.wait(lock, [&] { return !waiting_.empty() || is_closed_; });
        --idle_;
        if (waiting_.empty()) break;
        AttemptPtr attempt = std::move(waiting_.front());
        waiting_.pop_front();
        call_one();
        lock.unlock();
        work_.ended(attempt, work_.run(attempt));
        attempt.reset();
        lock.lock();
        --busy_;
        if (any_will_do_ || busy_ == 0) freed_.notify_one();
    }
    own.has_ended = true;
    ended_.notify_all();
}

void Slots::close() {
    const std::lock_guard lock(mutex_);
    is_closed_ = true;
    pushed_.notify_all();
    freed_.notify_all();
}

void Slots::join() {
    std::unique_lock lock(mutex_);
    const auto remaining = [&] {
        int count = 0;
        for (const Thread& thread : threads_) count += thread.has_ended ? 0 : 1;
        return count;
    };
    // A thread that has given its slot back is about to end.
    ended_.wait(lock, [&] { return remaining() <= busy_; });
    std::list<Thread> ended;
    for (auto at = threads_.begin(); at != threads_.end();) {
        const auto next = std::next(at);
        if (at->has_ended) {
            ended.splice(ended.end(), threads_, at);
        } else {
            at->thread.detach();
        }
        at = next;
    }
    lock.unlock();
    for (Thread& thread : ended) thread.thread.join();
}

int Slots::busy() const {
    const std::lock_guard lock(mutex_);
    return busy_;
}

}  // namespace sluice::client
