#include "infrastructure/postgres/watch/outbox.hpp"

#include <sys/eventfd.h>
#include <unistd.h>

#include <algorithm>
#include <utility>

#include "domain/values/check.hpp"

namespace sluice::postgres {

Outbox::Outbox() : wake_fd_(eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC)) {
    check(wake_fd_ >= 0, "there is a file descriptor left for the watch");
}

Outbox::~Outbox() {
    close(wake_fd_);
}

void Outbox::put(const HintMessage& news) {
    bool was_empty = false;
    {
        const std::lock_guard lock(mutex_);
        was_empty = has_nothing();
        for (const auto& [lane, count] : news.readied) waiting_.readied[lane] += count;
        for (const auto& [meter, count] : news.returned) waiting_.returned[meter] += count;
        waiting_.due = std::min(waiting_.due, news.due);
        waiting_.rules_changed = waiting_.rules_changed || news.rules_changed;
    }
    if (was_empty) wake();
}

HintMessage Outbox::take() {
    const std::lock_guard lock(mutex_);
    return std::exchange(waiting_, {});
}

bool Outbox::is_empty() const {
    const std::lock_guard lock(mutex_);
    return has_nothing();
}

void Outbox::wake() {
    eventfd_write(wake_fd_, 1);
}

void Outbox::forget_wakes() {
    eventfd_t count = 0;
    eventfd_read(wake_fd_, &count);
}

}  // namespace sluice::postgres
