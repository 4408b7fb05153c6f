#pragma once

#include <arpa/inet.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <atomic>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "support/postgres.hpp"

namespace sluice {

// Passes on the bytes between a client and the test server, and tells the client another process
// number of its session, as a pooler does. Counts round trips.
class Pooler {
  public:
    Pooler() {
        const sockaddr_in any = local(0);
        socklen_t size = sizeof any;
        sockaddr_in own{};
        if (bind(listener_, reinterpret_cast<const sockaddr*>(&any), size) != 0 ||
            listen(listener_, 10) != 0 ||
            getsockname(listener_, reinterpret_cast<sockaddr*>(&own), &size) != 0) {
            throw std::runtime_error("cannot listen");
        }
        port_ = ntohs(own.sin_port);
        acceptor_ = std::thread([this] { accept_clients(); });
    }
    ~Pooler() {
        stop_ = true;
        acceptor_.join();
        for (std::thread& client : clients_) client.join();
        close(listener_);
    }

    std::string url_for(std::string url) const {
        const std::size_t begin = url.rfind(':') + 1;
        return url.replace(begin, url.rfind('/') - begin, std::to_string(port_));
    }

    // How often a client sent data after the server had answered.
    int turns() const { return turns_; }

  private:
    static sockaddr_in local(int port) {
        sockaddr_in address{};
        address.sin_family = AF_INET;
        address.sin_port = htons(static_cast<std::uint16_t>(port));
        address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
        return address;
    }

    static bool is_readable(int socket) {
        pollfd wanted{.fd = socket, .events = POLLIN, .revents = 0};
        return poll(&wanted, 1, 1) == 1;
    }

    void accept_clients() {
        while (!stop_) {
            if (!is_readable(listener_)) continue;
            clients_.emplace_back([this, client = accept(listener_, nullptr, nullptr)] {
                serve(client);
                close(client);
            });
        }
    }

    void serve(int client) {
        const std::string url = test_server_url();
        const sockaddr_in address = local(std::stoi(url.substr(url.rfind(':') + 1)));
        const int server = socket(AF_INET, SOCK_STREAM, 0);
        connect(server, reinterpret_cast<const sockaddr*>(&address), sizeof address);
        bool was_answered = true;
        while (!stop_ && pass(client, server, false, was_answered) &&
               pass(server, client, true, was_answered)) {
        }
        close(server);
    }

    bool pass(int from, int to, bool is_answer, bool& was_answered) {
        if (!is_readable(from)) return true;
        if (!is_answer && was_answered) ++turns_;
        was_answered = is_answer;
        char bytes[16384];
        const ssize_t size = recv(from, bytes, sizeof bytes, 0);
        if (size <= 0) return false;
        std::string text(bytes, static_cast<std::size_t>(size));
        const std::size_t key = text.find(std::string("K\0\0\0\x0c", 5));
        if (is_answer && key != std::string::npos && key + 13 <= text.size()) text[key + 5] = 0x7f;
        return send(to, text.data(), text.size(), MSG_NOSIGNAL) == size;
    }

    int listener_ = socket(AF_INET, SOCK_STREAM, 0);
    int port_ = 0;
    std::atomic<bool> stop_ = false;
    std::atomic<int> turns_ = 0;
    std::vector<std::thread> clients_;
    std::thread acceptor_;
};

}  // namespace sluice
