#include "e2e/fault_proxy.hpp"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <stdexcept>

namespace sluice::e2e {
namespace {

constexpr int turn_millis = 5;  // so soon a command is noticed that opens the way again
constexpr std::size_t pending_max = 1 << 20;

sockaddr_in loopback(std::uint16_t port) {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_port = htons(port);
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    return address;
}

int make_socket() {
    return socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
}

void send_at_once(int socket) {
    const int on = 1;
    setsockopt(socket, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
}

// Nothing: nobody listens.
int connect_to(std::uint16_t port) {
    const int made = make_socket();
    const sockaddr_in address = loopback(port);
    if (connect(made, reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0) {
        send_at_once(made);
        return made;
    }
    close(made);
    return -1;
}

bool would_block() {
    return errno == EAGAIN || errno == EWOULDBLOCK || errno == EINTR;
}

}  // namespace

FaultProxy::FaultProxy(std::uint16_t server_port)
    : server_port_(server_port), listener_(make_socket()) {
    sockaddr_in address = loopback(0);
    socklen_t size = sizeof address;
    if (bind(listener_, reinterpret_cast<const sockaddr*>(&address), size) != 0 ||
        listen(listener_, SOMAXCONN) != 0 ||
        getsockname(listener_, reinterpret_cast<sockaddr*>(&address), &size) != 0) {
        throw std::runtime_error("the proxy cannot listen");
    }
    port_ = ntohs(address.sin_port);
    thread_ = std::thread([this] { run(); });
}

FaultProxy::~FaultProxy() {
    stop_ = true;
    thread_.join();
    for (const Link& link : links_) {
        close(link.client);
        close(link.server);
    }
    close(listener_);
}

void FaultProxy::freeze() {
    const std::lock_guard lock(mutex_);
    is_frozen_ = true;
}

void FaultProxy::thaw() {
    const std::lock_guard lock(mutex_);
    is_frozen_ = false;
}

void FaultProxy::swallow_answers() {
    const std::lock_guard lock(mutex_);
    for (Link& link : links_) {
        link.answers.is_dropped = true;
        link.answers.pending.clear();
    }
}

// The thread closes the descriptors: it may be waiting for them.
void FaultProxy::cut() {
    const std::lock_guard lock(mutex_);
    for (Link& link : links_) {
        shutdown(link.client, SHUT_RDWR);
        shutdown(link.server, SHUT_RDWR);
        link.requests.is_over = link.answers.is_over = true;
        link.requests.pending.clear();
        link.answers.pending.clear();
    }
}

void FaultProxy::abandon() {
    const std::lock_guard lock(mutex_);
    for (Link& link : links_) {
        forward(link);  // what has been sent and not been read yet
        shutdown(link.client, SHUT_RDWR);
        link.has_client = false;
        link.requests.is_over = link.answers.is_dropped = true;
        link.answers.pending.clear();
    }
}

void FaultProxy::close_down() {
    const std::lock_guard lock(mutex_);
    lets_in_ = false;
}

void FaultProxy::run() {
    while (!stop_) {
        std::vector<pollfd> sockets = wishes();
        poll(sockets.data(), sockets.size(), turn_millis);
        const std::lock_guard lock(mutex_);
        if (is_frozen_) continue;
        if (!sockets.empty() && sockets.front().revents != 0) let_in();
        for (auto link = links_.begin(); link != links_.end();) {
            forward(*link);
            if (!is_over(*link)) {
                ++link;
                continue;
            }
            close(link->client);
            close(link->server);
            link = links_.erase(link);
        }
    }
}

// What the thread waits for; the listener comes first.
std::vector<pollfd> FaultProxy::wishes() {
    const std::lock_guard lock(mutex_);
    if (is_frozen_) return {};
    std::vector<pollfd> sockets{{listener_, POLLIN, 0}};
    for (const Link& link : links_) {
        for (const Stream* stream : {&link.requests, &link.answers}) {
            const bool is_full = stream->pending.size() > pending_max;
            if (!stream->is_over && !is_full) sockets.push_back({stream->from, POLLIN, 0});
            if (!stream->pending.empty()) sockets.push_back({stream->to, POLLOUT, 0});
        }
    }
    return sockets;
}

void FaultProxy::let_in() {
    const int client = accept4(listener_, nullptr, nullptr, SOCK_CLOEXEC);
    if (client < 0) return;
    const int server = lets_in_ ? connect_to(server_port_) : -1;
    if (server < 0) {
        close(client);
        return;
    }
    send_at_once(client);
    Link& link = links_.emplace_back();
    link.client = client;
    link.server = server;
    link.requests = {.from = client, .to = server};
    link.answers = {.from = server, .to = client};
}

// Moves what can be moved without waiting.
void FaultProxy::forward(Link& link) {
    for (Stream* stream : {&link.requests, &link.answers}) {
        std::array<char, 64 * 1024> bytes{};
        while (!stream->is_over && stream->pending.size() <= pending_max) {
            const ssize_t count = recv(stream->from, bytes.data(), bytes.size(), MSG_DONTWAIT);
            if (count < 0 && would_block()) break;
            if (count <= 0) stream->is_over = true;
            if (count > 0 && !stream->is_dropped) {
                stream->pending.append(bytes.data(), static_cast<std::size_t>(count));
            }
        }
        while (!stream->pending.empty()) {
            const ssize_t count = send(stream->to, stream->pending.data(), stream->pending.size(),
                                       MSG_DONTWAIT | MSG_NOSIGNAL);
            if (count < 0 && would_block()) break;
            if (count < 0) stream->pending.clear();
            if (count > 0) stream->pending.erase(0, static_cast<std::size_t>(count));
        }
    }
}

// The end of one side is that of the other, once it has heard the last words. A server whose client
// was taken away stays until it ends the connection itself.
bool FaultProxy::is_over(const Link& link) {
    const bool no_answers = link.answers.is_over && link.answers.pending.empty();
    const bool no_requests = link.requests.is_over && link.requests.pending.empty();
    return no_answers || (no_requests && link.has_client);
}

}  // namespace sluice::e2e
