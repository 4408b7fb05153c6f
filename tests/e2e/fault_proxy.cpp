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

constexpr int turn_millis = 5;  // after at most this time a command that ends a freeze is noticed
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

// Nothing: no server listens.
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
    for (const Link& link : links_) close_all(link);
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

// A socket that does not linger is closed with a reset.
void FaultProxy::reset() {
    const std::lock_guard lock(mutex_);
    const linger at_once{.l_onoff = 1, .l_linger = 0};
    for (Link& link : links_) {
        for (const int side : {link.client, link.server}) {
            setsockopt(side, SOL_SOCKET, SO_LINGER, &at_once, sizeof at_once);
        }
        link.requests.is_over = link.answers.is_over = true;
        link.requests.pending.clear();
        link.answers.pending.clear();
    }
}

void FaultProxy::delay(std::chrono::milliseconds by) {
    const std::lock_guard lock(mutex_);
    delay_ = by;
}

void FaultProxy::repeat_requests(std::chrono::milliseconds later) {
    const std::lock_guard lock(mutex_);
    repeats_ = true;
    repeat_delay_ = later;
}

void FaultProxy::repeat_no_more() {
    const std::lock_guard lock(mutex_);
    repeats_ = false;
}

void FaultProxy::abandon() {
    const std::lock_guard lock(mutex_);
    for (Link& link : links_) {
        forward(link);  // bytes that were sent and not read yet
        shutdown(link.client, SHUT_RDWR);
        link.has_client = false;
        link.requests.is_over = link.answers.is_dropped = true;
        link.answers.pending.clear();
    }
}

void FaultProxy::hold_back(Hold hold) {
    const std::lock_guard lock(mutex_);
    hold_ = hold;
    for (Link& link : links_) link.requests.burst = 0;
}

void FaultProxy::let_go() {
    const std::lock_guard lock(mutex_);
    hold_ = {};
    holds_ = false;
    for (Link& link : links_) link.requests.tail = 0;
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
            close_all(*link);
            link = links_.erase(link);
        }
    }
}

// The descriptors that the thread waits for; the listener comes first.
std::vector<pollfd> FaultProxy::wishes() {
    const std::lock_guard lock(mutex_);
    if (is_frozen_) return {};
    std::vector<pollfd> sockets{{listener_, POLLIN, 0}};
    const Clock::time_point now = Clock::now();
    for (const Link& link : links_) {
        for (const Stream* stream : {&link.requests, &link.answers}) {
            const bool is_full = stream->pending.size() > pending_max;
            if (!stream->is_over && !is_full) sockets.push_back({stream->from, POLLIN, 0});
            if (stream->can_move(now)) sockets.push_back({stream->to, POLLOUT, 0});
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
    if (repeats_) link.echo = connect_to(server_port_);
    link.repeated = {.to = link.echo};
}

void FaultProxy::take_in(Link& link, Stream& stream) {
    std::array<char, 64 * 1024> bytes{};
    while (!stream.is_over && stream.pending.size() <= pending_max) {
        const ssize_t count = recv(stream.from, bytes.data(), bytes.size(), MSG_DONTWAIT);
        if (count < 0 && would_block()) return;
        if (count <= 0) stream.is_over = true;
        if (count <= 0 || stream.is_dropped) continue;
        const auto size = static_cast<std::size_t>(count);
        if (stream.pending.empty()) stream.held_until = Clock::now() + delay_;
        stream.pending.append(bytes.data(), size);
        if (&stream == &link.answers) link.requests.burst = 0;
        stream.burst += size;
        if (&stream == &link.requests) hold_back_end(stream);
        if (&stream != &link.requests || link.echo < 0) continue;
        if (link.repeated.pending.empty()) link.repeated.held_until = Clock::now() + repeat_delay_;
        link.repeated.pending.append(bytes.data(), size);
    }
}

void FaultProxy::hold_back_end(Stream& requests) {
    if (hold_.burst == 0 || requests.burst < hold_.burst) return;
    requests.tail = hold_.tail;
    hold_ = {};
    holds_ = true;
}

void FaultProxy::pass_on(Stream& stream) {
    while (stream.can_move(Clock::now())) {
        const ssize_t count =
            send(stream.to, stream.pending.data(), stream.pending.size() - stream.tail,
                 MSG_DONTWAIT | MSG_NOSIGNAL);
        if (count < 0 && would_block()) return;
        if (count < 0) stream.pending.clear();
        if (count > 0) stream.pending.erase(0, static_cast<std::size_t>(count));
    }
}

void FaultProxy::drain(int socket) {
    std::array<char, 64 * 1024> bytes{};
    while (recv(socket, bytes.data(), bytes.size(), MSG_DONTWAIT) > 0) continue;
}

// Moves all bytes that can be moved without waiting.
void FaultProxy::forward(Link& link) {
    for (Stream* stream : {&link.requests, &link.answers}) {
        take_in(link, *stream);
        pass_on(*stream);
    }
    if (link.echo < 0) return;
    pass_on(link.repeated);
    drain(link.echo);
}

void FaultProxy::close_all(const Link& link) {
    close(link.client);
    close(link.server);
    if (link.echo >= 0) close(link.echo);
}

// When one side has ended, the other is closed, too, once it has the last bytes. A server whose
// client was cut off stays until it ends the connection itself.
bool FaultProxy::is_over(const Link& link) {
    const bool no_answers = link.answers.is_over && link.answers.pending.empty();
    const bool no_requests = link.requests.is_over && link.requests.pending.empty();
    const bool is_repeated = link.repeated.pending.empty();  // or will be, before the link goes
    return is_repeated && (no_answers || (no_requests && link.has_client));
}

}  // namespace sluice::e2e
