#include <sys/eventfd.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <condition_variable>
#include <mutex>
#include <system_error>

#include "sluice/worker.hpp"

namespace sluice::client {

class CancelToken::Shared {
  public:
    ~Shared() {
        if (descriptor_ >= 0) ::close(descriptor_);
    }

    StopReason reason() const { return reason_.load(std::memory_order_acquire); }

    bool wait_for(Millis time) {
        std::unique_lock lock(mutex_);
        return asked_.wait_for(lock, time, [&] { return reason() != StopReason::none; });
    }

    int descriptor() {
        const std::lock_guard lock(mutex_);
        if (descriptor_ < 0) {
            const unsigned readable = reason() == StopReason::none ? 0 : 1;
            descriptor_ = ::eventfd(readable, EFD_CLOEXEC | EFD_NONBLOCK);
            if (descriptor_ < 0) {
                throw std::system_error(errno, std::system_category(),
                                        "no descriptor for the request to stop a job");
            }
        }
        return descriptor_;
    }

    void request(StopReason reason) {
        {
            const std::lock_guard lock(mutex_);
            const bool is_first = reason_ == StopReason::none;
            if (reason == StopReason::none || (!is_first && reason != StopReason::lease_lost)) {
                return;
            }
            reason_.store(reason, std::memory_order_release);
            if (is_first && descriptor_ >= 0) ::eventfd_write(descriptor_, 1);
        }
        asked_.notify_all();
    }

  private:
    std::mutex mutex_;
    std::condition_variable asked_;
    std::atomic<StopReason> reason_ = StopReason::none;
    int descriptor_ = -1;  // made on first use, since most jobs do not need it
};

CancelToken::CancelToken() : shared_(std::make_unique<Shared>()) {}
CancelToken::~CancelToken() = default;

StopReason CancelToken::reason() const {
    return shared_->reason();
}

bool CancelToken::wait_for(Millis time) const {
    return shared_->wait_for(time);
}

int CancelToken::descriptor() const {
    return shared_->descriptor();
}

void CancelToken::request(StopReason reason) {
    shared_->request(reason);
}

}  // namespace sluice::client
