#pragma once

#include <arpa/inet.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <atomic>
#include <functional>
#include <mutex>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

namespace sluice::worker::test {

// A web server on the loopback that answers one request after the other as the test says.
class HttpServer {
  public:
    // From the whole request to the whole answer. An empty answer: none, until the caller leaves.
    using Answer = std::function<std::string(const std::string&)>;

    explicit HttpServer(Answer answer) : answer_(std::move(answer)) {
        listener_ = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
        sockaddr_in address{};
        address.sin_family = AF_INET;
        address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
        socklen_t size = sizeof address;
        ::bind(listener_, reinterpret_cast<sockaddr*>(&address), size);
        ::listen(listener_, 16);
        ::getsockname(listener_, reinterpret_cast<sockaddr*>(&address), &size);
        port_ = ntohs(address.sin_port);
        thread_ = std::thread([this] { serve(); });
    }
    ~HttpServer() {
        stopping_ = true;
        thread_.join();
        ::close(listener_);
    }
    HttpServer(const HttpServer&) = delete;
    HttpServer& operator=(const HttpServer&) = delete;

    std::string url(std::string_view path, std::string_view host = "127.0.0.1") const {
        return "http://" + std::string(host) + ":" + std::to_string(port_) + std::string(path);
    }
    std::vector<std::string> requests() const {
        const std::lock_guard lock(mutex_);
        return requests_;
    }

    static std::string answer(std::string_view status, std::string_view body,
                              std::string_view headers = {}) {
        return "HTTP/1.1 " + std::string(status) + "\r\nConnection: close\r\n" +
               std::string(headers) + "Content-Length: " + std::to_string(body.size()) +
               "\r\n\r\n" + std::string(body);
    }

  private:
    bool is_readable(int socket) const {
        pollfd wanted{socket, POLLIN, 0};
        return ::poll(&wanted, 1, 10) > 0;
    }

    void serve() {
        while (!stopping_) {
            if (!is_readable(listener_)) continue;
            const int socket = ::accept4(listener_, nullptr, nullptr, SOCK_CLOEXEC);
            serve(socket);
            ::close(socket);
        }
    }

    void serve(int socket) {
        std::string request;
        while (!stopping_ && !is_whole(request)) {
            if (!read(socket, request)) return;
        }
        {
            const std::lock_guard lock(mutex_);
            requests_.push_back(request);
        }
        const std::string answer = answer_(request);
        if (!answer.empty()) {
            ::send(socket, answer.data(), answer.size(), MSG_NOSIGNAL);
            return;
        }
        while (!stopping_ && read(socket, request)) continue;
    }

    // Returns false at the end.
    bool read(int socket, std::string& request) const {
        if (!is_readable(socket)) return true;
        char bytes[4096];
        const ssize_t count = ::recv(socket, bytes, sizeof bytes, 0);
        if (count <= 0) return false;
        request.append(bytes, static_cast<std::size_t>(count));
        return true;
    }

    static bool is_whole(const std::string& request) {
        const std::size_t end = request.find("\r\n\r\n");
        if (end == std::string::npos) return false;
        const std::size_t length = request.find("Content-Length: ");
        if (length > end) return true;
        return request.size() >= end + 4 + std::stoul(request.substr(length + 16));
    }

    Answer answer_;
    int listener_ = -1;
    int port_ = 0;
    std::atomic<bool> stopping_ = false;
    mutable std::mutex mutex_;
    std::vector<std::string> requests_;
    std::thread thread_;
};

}  // namespace sluice::worker::test
