#include "infrastructure/commit/reader_pool.hpp"

#include "infrastructure/system/log.hpp"

namespace sluice {
namespace {

constexpr std::size_t waiting_max = 10'000;

// So many answers may wait for the I/O thread. They may be large, and readers are faster than it is
// when it has much to do.
constexpr int undelivered_max = 8;

}  // namespace

ReaderPool::ReaderPool(Store& store, int threads, Deliver deliver)
    : store_(store), deliver_(std::move(deliver)) {
    for (int i = 0; i < threads; ++i) threads_.emplace_back([this] { serve(); });
}

ReaderPool::~ReaderPool() {
    {
        const std::lock_guard lock(mutex_);
        stop_ = true;
        waiting_.clear();
    }
    arrived_.notify_all();
    for (std::thread& thread : threads_) thread.join();
}

bool ReaderPool::run(std::function<Delivery(JobReader&)> work) {
    {
        const std::lock_guard lock(mutex_);
        if (waiting_.size() >= waiting_max) return false;
        waiting_.push_back(std::move(work));
    }
    arrived_.notify_one();
    return true;
}

// One line when the store stops answering and one when it answers again.
void ReaderPool::note_health(const std::string& failure) {
    if (fails_.exchange(!failure.empty()) == !failure.empty()) return;
    if (failure.empty()) return log::info("the store answers questions again");
    log::error("the store does not answer questions; they get 503 until it does",
               log::field("error", failure));
}

void ReaderPool::serve() {
    const auto reader = store_.reader();
    for (std::unique_lock lock(mutex_);;) {
        arrived_.wait(lock, [this] {
            return stop_ || (!waiting_.empty() && undelivered_ < undelivered_max);
        });
        if (waiting_.empty()) return;
        const auto work = std::move(waiting_.front());
        waiting_.pop_front();
        ++undelivered_;
        lock.unlock();
        deliver_([this, delivery = work(*reader)] {
            note_delivered();
            delivery();
        });
        lock.lock();
    }
}

void ReaderPool::note_delivered() {
    const std::lock_guard lock(mutex_);
    if (undelivered_-- == undelivered_max) arrived_.notify_one();
}

}  // namespace sluice
