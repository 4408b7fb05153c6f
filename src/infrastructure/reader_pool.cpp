#include "infrastructure/reader_pool.hpp"

namespace sluice {
namespace {

constexpr std::size_t waiting_max = 10'000;

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

void ReaderPool::serve() {
    const auto reader = store_.reader();
    for (std::unique_lock lock(mutex_);;) {
        arrived_.wait(lock, [this] { return stop_ || !waiting_.empty(); });
        if (waiting_.empty()) return;
        const auto work = std::move(waiting_.front());
        waiting_.pop_front();
        lock.unlock();
        deliver_(work(*reader));
        lock.lock();
    }
}

}  // namespace sluice
