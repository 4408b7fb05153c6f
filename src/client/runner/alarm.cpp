#include "client/runner/alarm.hpp"

#include <poll.h>
#include <sys/eventfd.h>
#include <sys/timerfd.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <system_error>

namespace sluice::client {
namespace {

timespec to_timespec(BootTime moment) {
    const auto seconds = std::chrono::duration_cast<std::chrono::seconds>(moment);
    return {.tv_sec = seconds.count(), .tv_nsec = (moment - seconds).count()};
}

}  // namespace

Alarm::Alarm()
    : calls_(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)),
      timer_(::timerfd_create(CLOCK_BOOTTIME, TFD_CLOEXEC | TFD_NONBLOCK)) {
    if (calls_ >= 0 && timer_ >= 0) return;
    const int error = errno;
    if (calls_ >= 0) ::close(calls_);
    if (timer_ >= 0) ::close(timer_);
    throw std::system_error(error, std::system_category(), "no descriptor for a worker's timer");
}

Alarm::~Alarm() {
    ::close(calls_);
    ::close(timer_);
}

void Alarm::call() const {
    const int error = errno;  // a signal handler must not change it
    ::eventfd_write(calls_, 1);
    errno = error;
}

void Alarm::sleep_until(BootTime moment) {
    itimerspec time{};
    // A time of zero would mean no alarm at all.
    if (moment != boot_never) time.it_value = to_timespec(std::max(moment, BootTime(1)));
    ::timerfd_settime(timer_, TFD_TIMER_ABSTIME, &time, nullptr);
    pollfd ends[] = {{.fd = calls_, .events = POLLIN, .revents = 0},
                     {.fd = timer_, .events = POLLIN, .revents = 0}};
    ::poll(ends, 2, -1);
    eventfd_t count = 0;
    ::eventfd_read(calls_, &count);
}

}  // namespace sluice::client
