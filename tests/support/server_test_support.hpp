#pragma once

#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <chrono>
#include <cstdlib>
#include <deque>
#include <future>
#include <string>
#include <string_view>
#include <thread>
#include <utility>

#include "interfaces/http/server/server.hpp"

namespace sluice::http::testing_support {

using namespace std::chrono_literals;

struct Answer {
    int status = 0;  // 0: there was none
    std::string head;
    std::string body;

    std::string header(std::string_view name) const {
        const std::string start = "\r\n" + std::string(name) + ": ";
        const std::size_t found = head.find(start);
        if (found == std::string::npos) return {};
        const std::size_t begin = found + start.size();
        return head.substr(begin, head.find("\r\n", begin) - begin);
    }
};

// A client that sends exactly the given bytes. No wait takes over ten seconds.
class RawClient {
  public:
    explicit RawClient(std::uint16_t port, int receive_buffer_bytes = 0,
                       in_addr host = {htonl(INADDR_LOOPBACK)})
        : socket_(::socket(AF_INET, SOCK_STREAM, 0)) {
        if (receive_buffer_bytes > 0) {
            ::setsockopt(socket_, SOL_SOCKET, SO_RCVBUF, &receive_buffer_bytes, sizeof(int));
        }
        const timeval patience{10, 0};
        ::setsockopt(socket_, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof(patience));
        const int on = 1;
        ::setsockopt(socket_, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
        sockaddr_in address{};
        address.sin_family = AF_INET;
        address.sin_port = htons(port);
        address.sin_addr = host;
        is_connected_ =
            ::connect(socket_, reinterpret_cast<const sockaddr*>(&address), sizeof(address)) == 0;
    }
    ~RawClient() { close(); }
    RawClient(const RawClient&) = delete;
    RawClient& operator=(const RawClient&) = delete;

    bool is_connected() const { return is_connected_; }

    bool send(std::string_view bytes) {
        while (!bytes.empty()) {
            const auto sent = ::send(socket_, bytes.data(), bytes.size(), MSG_NOSIGNAL);
            if (sent <= 0) return false;
            bytes.remove_prefix(static_cast<std::size_t>(sent));
        }
        return true;
    }

    void finish_sending() { ::shutdown(socket_, SHUT_WR); }

    void close() {
        if (socket_ >= 0) ::close(std::exchange(socket_, -1));
    }

    // The next answer; `has_body` is false for answers to HEAD.
    Answer read_answer(bool has_body = true) {
        Answer answer;
        std::size_t end = 0;
        while ((end = received_.find("\r\n\r\n")) == std::string::npos) {
            if (!receive()) return answer;
        }
        answer.head = received_.substr(0, end + 2);
        received_.erase(0, end + 4);
        answer.status = std::atoi(answer.head.c_str() + 9);
        if (has_body && answer.header("Transfer-Encoding") == "chunked") {
            return read_chunks(answer.body) ? answer : Answer();
        }
        const auto length =
            static_cast<std::size_t>(std::atoll(("0" + answer.header("Content-Length")).c_str()));
        while (has_body && received_.size() < length) {
            if (!receive()) return Answer();
        }
        if (has_body) answer.body = received_.substr(0, length);
        if (has_body) received_.erase(0, length);
        return answer;
    }

    // All bytes until the server closes.
    std::string read_to_end() {
        while (receive()) {
        }
        return std::exchange(received_, {});
    }

    bool read_until(std::string_view text) {
        while (received_.find(text) == std::string::npos) {
            if (!receive()) return false;
        }
        return true;
    }

    // Reads up to so many more bytes from the socket; they are still part of the next answer.
    bool read_some(std::size_t bytes) {
        std::string some(bytes, ' ');
        const auto count = ::recv(socket_, some.data(), bytes, 0);
        if (count <= 0) return false;
        received_.append(some, 0, static_cast<std::size_t>(count));
        return true;
    }

    // Whether the server has closed, without having sent anything more.
    bool is_closed_by_server() { return read_to_end().empty() && has_ended_; }

  private:
    // False: the connection ended before the last chunk.
    bool read_chunks(std::string& body) {
        for (;;) {
            std::size_t line = 0;
            while ((line = received_.find("\r\n")) == std::string::npos) {
                if (!receive()) return false;
            }
            const std::size_t size = std::stoul(received_.substr(0, line), nullptr, 16);
            while (received_.size() < line + 2 + size + 2) {
                if (!receive()) return false;
            }
            body += received_.substr(line + 2, size);
            received_.erase(0, line + 2 + size + 2);
            if (size == 0) return true;
        }
    }

    bool receive() {
        char bytes[16384];
        const auto count = ::recv(socket_, bytes, sizeof(bytes), 0);
        has_ended_ = count == 0 || (count < 0 && errno == ECONNRESET);
        if (count <= 0) return false;
        received_.append(bytes, static_cast<std::size_t>(count));
        return true;
    }

    int socket_;
    bool is_connected_ = false;
    bool has_ended_ = false;
    std::string received_;
};

inline Response text(std::string body, int status = 200) {
    Response response;
    response.status = status;
    response.content_type = "text/plain";
    response.body = std::move(body);
    return response;
}

// Answers at once with the request.
inline void echo(const Request& request, Reply reply) {
    std::string body(to_text(request.verb));
    body.append(" ").append(request.target).append(" ").append(request.body);
    reply.send(text(std::move(body)));
}

// A server that runs in a thread of its own until the test ends.
class RunningServer {
  public:
    explicit RunningServer(Server::Handler handler = echo, ServerOptions options = {},
                           Server::Observer observer = {})
        : server_(std::move(options), std::move(handler), {}, std::move(observer)),
          thread_([this] { server_.run(); }) {}

    ~RunningServer() {
        server_.stop(0ms);
        join();
    }

    void join() {
        if (thread_.joinable()) thread_.join();
    }

    Server* operator->() { return &server_; }
    std::uint16_t port() const { return server_.port(); }

    // Returns once all tasks that were posted before have run.
    void settle() {
        std::promise<void> done;
        server_.post([&] { done.set_value(); });
        done.get_future().wait();
    }

    void wait_for_connections(std::size_t count) {
        const auto end = std::chrono::steady_clock::now() + 10s;
        while (server_.open_connections() != count && std::chrono::steady_clock::now() < end) {
            std::this_thread::sleep_for(1ms);
        }
        EXPECT_EQ(server_.open_connections(), count);
    }

  private:
    Server server_;
    std::thread thread_;
};

inline ServerOptions with_limits(const Limits& limits) {
    ServerOptions options;
    options.limits = limits;
    return options;
}

// Limits whose times do not matter in a test, unless it sets one of them.
inline Limits patient() {
    Limits limits;
    limits.header_time = limits.body_time = limits.idle_time = limits.write_time = 60s;
    return limits;
}

// A handler that keeps its requests until the test answers them. Its members are used on the I/O
// thread, through Server::post.
struct Desk {
    std::deque<Reply> waiting;
    std::promise<void> first_arrived;
    std::atomic<int> arrived = 0;

    Server::Handler handler() {
        return [this](const Request&, Reply reply) {
            waiting.push_back(std::move(reply));
            if (++arrived == 1) first_arrived.set_value();
        };
    }

    void wait_for_first() { first_arrived.get_future().wait(); }
};

inline std::string get(std::string_view target, std::string_view more_headers = {}) {
    return "GET " + std::string(target) + " HTTP/1.1\r\nHost: here\r\n" +
           std::string(more_headers) + "\r\n";
}

inline std::string post(std::string_view target, std::string_view body) {
    return "POST " + std::string(target) +
           " HTTP/1.1\r\nHost: here\r\nContent-Length: " + std::to_string(body.size()) +
           "\r\n\r\n" + std::string(body);
}

}  // namespace sluice::http::testing_support
