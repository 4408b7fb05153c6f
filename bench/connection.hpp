// Non-blocking TCP connections to a server on loopback, and the epoll set that they share.
#pragma once

#include <arpa/inet.h>
#include <netinet/tcp.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <string_view>
#include <vector>

namespace sluice::bench {

using Clock = std::chrono::steady_clock;
using TimePoint = Clock::time_point;
using Seconds = std::chrono::duration<double>;

// A benchmark with a wrong answer in it has no figure: prints the error and ends.
[[noreturn]] inline void die(const std::string& what) {
    std::fprintf(stderr, "load: %s\n", what.c_str());
    std::exit(1);
}

inline int dial(int port) {
    const int fd = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (fd < 0) die(std::string("socket: ") + std::strerror(errno));
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_port = htons(static_cast<std::uint16_t>(port));
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    if (::connect(fd, reinterpret_cast<sockaddr*>(&address), sizeof address) != 0) {
        ::close(fd);
        return -1;
    }
    const int on = 1;
    ::setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    return fd;
}

class Poller {
  public:
    Poller() : fd_(::epoll_create1(EPOLL_CLOEXEC)) {
        if (fd_ < 0) die("epoll_create1 failed");
    }
    ~Poller() { ::close(fd_); }
    Poller(const Poller&) = delete;
    Poller& operator=(const Poller&) = delete;

    void set(int operation, int socket, std::uint32_t events, std::uint32_t place) const {
        epoll_event event{};
        event.events = events;
        event.data.u32 = place;
        if (::epoll_ctl(fd_, operation, socket, &event) != 0) die("epoll_ctl failed");
    }

    // Calls ready(place, events) for each connection that has events. False: none came.
    template <class Ready>
    bool wait(int timeout_ms, Ready ready) {
        const int count =
            ::epoll_wait(fd_, events_.data(), static_cast<int>(events_.size()), timeout_ms);
        if (count < 0 && errno != EINTR) die("epoll_wait failed");
        for (int i = 0; i < count; ++i) {
            const epoll_event& event = events_[static_cast<std::size_t>(i)];
            ready(event.data.u32, event.events);
        }
        return count > 0;
    }

  private:
    int fd_;
    std::array<epoll_event, 256> events_{};
};

// Its buffer grows to the largest answer and is kept: a running benchmark allocates nothing.
class Connection {
  public:
    Connection(Poller& poller, std::uint32_t place, int port)
        : poller_(poller), place_(place), fd_(dial(port)), input_(64 * 1024) {
        if (fd_ < 0) die("nobody listens at port " + std::to_string(port));
        poller_.set(EPOLL_CTL_ADD, fd_, EPOLLIN, place_);
    }
    ~Connection() { ::close(fd_); }
    Connection(const Connection&) = delete;
    Connection& operator=(const Connection&) = delete;

    // `bytes` must live until the answer has come.
    void send(std::string_view bytes) {
        unsent_ = bytes;
        push();
    }

    // Sends and reads as much as is possible now.
    void progress(std::uint32_t events) {
        if ((events & EPOLLOUT) != 0) push();
        if ((events & ~static_cast<std::uint32_t>(EPOLLOUT)) != 0) pull();
    }

    std::string_view input() const { return {input_.data() + begin_, end_ - begin_}; }

    void consume(std::size_t bytes) {
        begin_ += bytes;
        if (begin_ == end_) begin_ = end_ = 0;
    }

    // Makes space for an answer of this size in all.
    void expect(std::size_t bytes) {
        if (input_.size() - begin_ < bytes) make_room(bytes);
    }

  private:
    void push() {
        while (!unsent_.empty()) {
            const ssize_t sent =
                ::send(fd_, unsent_.data(), unsent_.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
            if (sent >= 0) {
                unsent_.remove_prefix(static_cast<std::size_t>(sent));
            } else if (errno == EAGAIN || errno == EWOULDBLOCK) {
                break;
            } else if (errno != EINTR) {
                die(std::string("send: ") + std::strerror(errno));
            }
        }
        if (unsent_.empty() == !waits_to_send_) return;
        waits_to_send_ = !unsent_.empty();
        poller_.set(EPOLL_CTL_MOD, fd_, EPOLLIN | (waits_to_send_ ? EPOLLOUT : 0U), place_);
    }

    void pull() {
        if (end_ == input_.size()) make_room(2 * (end_ - begin_) + 1);
        const ssize_t got = ::recv(fd_, input_.data() + end_, input_.size() - end_, MSG_DONTWAIT);
        if (got > 0) {
            end_ += static_cast<std::size_t>(got);
        } else if (got == 0) {
            die("the server closed a connection");
        } else if (errno != EAGAIN && errno != EWOULDBLOCK && errno != EINTR) {
            die(std::string("recv: ") + std::strerror(errno));
        }
    }

    void make_room(std::size_t bytes) {
        std::memmove(input_.data(), input_.data() + begin_, end_ - begin_);
        end_ -= begin_;
        begin_ = 0;
        if (input_.size() < bytes) input_.resize(bytes);
    }

    Poller& poller_;
    std::uint32_t place_;
    int fd_;
    std::vector<char> input_;
    std::size_t begin_ = 0;
    std::size_t end_ = 0;
    std::string_view unsent_{};
    bool waits_to_send_ = false;
};

}  // namespace sluice::bench
