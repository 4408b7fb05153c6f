#include "main/notify.hpp"

#include <fmt/format.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

#include <charconv>
#include <cstdlib>
#include <cstring>

namespace sluice {
namespace {

std::string taken_from_environment(const char* name) {
    const char* value = std::getenv(name);
    std::string text = value == nullptr ? "" : value;
    unsetenv(name);
    return text;
}

template <class Number>
std::optional<Number> number_in(const std::string& text) {
    Number number{};
    const char* const end = text.data() + text.size();
    const auto read = std::from_chars(text.data(), end, number);
    if (read.ec != std::errc() || read.ptr != end) return std::nullopt;
    return number;
}

}  // namespace

ServiceManager ServiceManager::from_environment() {
    std::string socket = taken_from_environment("NOTIFY_SOCKET");
    const auto wait = number_in<std::int64_t>(taken_from_environment("WATCHDOG_USEC"));
    const std::string watched = taken_from_environment("WATCHDOG_PID");
    const bool is_watched = watched.empty() || number_in<pid_t>(watched) == getpid();
    if (!wait || *wait <= 0 || !is_watched) return ServiceManager(std::move(socket));
    return ServiceManager(std::move(socket), std::chrono::microseconds(*wait));
}

void ServiceManager::ready(std::string_view status) const {
    tell(fmt::format("READY=1\nSTATUS={}", status));
}

// The manager waits for the READY that comes after this moment.
void ServiceManager::reloading() const {
    timespec now{};
    clock_gettime(CLOCK_MONOTONIC, &now);
    const std::int64_t microseconds = now.tv_sec * std::int64_t{1'000'000} + now.tv_nsec / 1000;
    tell(fmt::format("RELOADING=1\nMONOTONIC_USEC={}", microseconds));
}

void ServiceManager::stopping() const {
    tell("STOPPING=1\nSTATUS=stopping");
}

std::optional<std::chrono::microseconds> ServiceManager::alive_every() const {
    if (socket_.empty() || !watchdog_) return std::nullopt;
    return *watchdog_ / 2;
}

void ServiceManager::alive() const {
    tell("WATCHDOG=1");
}

void ServiceManager::tell(std::string_view text) const {
    sockaddr_un address{};
    if (socket_.empty() || socket_.size() >= sizeof address.sun_path) return;
    if (socket_.front() != '/' && socket_.front() != '@') return;
    address.sun_family = AF_UNIX;
    std::memcpy(address.sun_path, socket_.data(), socket_.size());
    if (socket_.front() == '@') address.sun_path[0] = '\0';  // a name that is no file
    const int descriptor = ::socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    if (descriptor < 0) return;
    const auto length = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + socket_.size());
    // Best effort: a manager that does not listen is no reason not to serve.
    static_cast<void>(sendto(descriptor, text.data(), text.size(), MSG_NOSIGNAL | MSG_DONTWAIT,
                             reinterpret_cast<const sockaddr*>(&address), length));
    close(descriptor);
}

}  // namespace sluice
