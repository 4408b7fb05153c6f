#pragma once

#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <atomic>
#include <cstring>
#include <functional>
#include <mutex>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>
#include <vector>

// For tests: a server on a socket that is not an engine.
namespace sluice::client {

// Answers every request with the bytes that `script` returns for it, whatever they are. An empty
// answer is none: the client waits. The connection is kept unless the answer says "Connection:
// close".
class ScriptedServer {
  public:
    using Script = std::function<std::string(const std::string& request)>;

    explicit ScriptedServer(Script script) : script_(std::move(script)) {
        listener_ = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
        sockaddr_in address{};
        address.sin_family = AF_INET;
        address.sin_addr.s_addr = htonl(INADDR_ANY);  // 127.0.0.2 leads here, too
        socklen_t size = sizeof address;
        auto* const generic = reinterpret_cast<sockaddr*>(&address);
        if (bind(listener_, generic, size) != 0 || listen(listener_, 16) != 0 ||
            getsockname(listener_, generic, &size) != 0) {
            throw std::runtime_error(std::strerror(errno));
        }
        port_ = ntohs(address.sin_port);
        accepting_ = std::thread([this] { accept_all(); });
    }
    ~ScriptedServer() {
        stopping_ = true;
        accepting_.join();
        for (std::thread& thread : serving_) thread.join();
        close(listener_);
    }
    ScriptedServer(const ScriptedServer&) = delete;
    ScriptedServer& operator=(const ScriptedServer&) = delete;

    int port() const { return port_; }
    std::string url(const std::string& path = {}) const {
        return "http://127.0.0.1:" + std::to_string(port_) + path;
    }
    int connections() const { return connections_; }
    std::vector<std::string> requests() const {
        const std::lock_guard lock(mutex_);
        return requests_;
    }

  private:
    // Whether there is data to read; false when the server stops.
    bool wait_for(int descriptor) const {
        while (!stopping_) {
            pollfd poll_for{descriptor, POLLIN, 0};
            if (poll(&poll_for, 1, 20) > 0) return true;
        }
        return false;
    }

    void accept_all() {
        while (wait_for(listener_)) {
            const int peer = accept(listener_, nullptr, nullptr);
            if (peer < 0) continue;
            ++connections_;
            serving_.emplace_back([this, peer] {
                serve(peer);
                close(peer);
            });
        }
    }

    static bool is_whole(const std::string& request) {
        const std::size_t head = request.find("\r\n\r\n");
        if (head == std::string::npos) return false;
        const std::size_t length = request.find("Content-Length: ");
        if (length == std::string::npos || length > head) return true;
        return request.size() >= head + 4 + std::stoul(request.substr(length + 16));
    }

    void serve(int peer) {
        std::string request;
        while (wait_for(peer)) {
            char bytes[4096];
            const ssize_t count = recv(peer, bytes, sizeof bytes, 0);
            if (count <= 0) return;
            request.append(bytes, static_cast<std::size_t>(count));
            if (!is_whole(request)) continue;
            {
                const std::lock_guard lock(mutex_);
                requests_.push_back(request);
            }
            const std::string answer = script_(request);
            request.clear();
            send(peer, answer.data(), answer.size(), MSG_NOSIGNAL);
            if (answer.find("Connection: close") != std::string::npos) return;
        }
    }

    Script script_;
    int listener_ = -1;
    int port_ = 0;
    std::atomic<bool> stopping_ = false;
    std::atomic<int> connections_ = 0;
    mutable std::mutex mutex_;
    std::vector<std::string> requests_;
    std::thread accepting_;
    std::vector<std::thread> serving_;
};

// An answer with its length.
inline std::string answer_text(const std::string& status, const std::string& headers,
                               const std::string& body) {
    return "HTTP/1.1 " + status + "\r\nContent-Length: " + std::to_string(body.size()) + "\r\n" +
           headers + "\r\n" + body;
}

}  // namespace sluice::client
