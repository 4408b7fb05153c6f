#include "e2e/http_client.hpp"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <stdexcept>

namespace sluice::e2e {
namespace {

using Clock = std::chrono::steady_clock;

bool same_name(std::string_view a, std::string_view b) {
    const auto lower = [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c; };
    return std::equal(a.begin(), a.end(), b.begin(), b.end(),
                      [&](char x, char y) { return lower(x) == lower(y); });
}

Response parse_head(std::string_view head) {
    Response response;
    std::from_chars(head.data() + 9, head.data() + 12, response.status);
    for (std::size_t line = head.find("\r\n") + 2; line < head.size();) {
        const std::size_t end = std::min(head.find("\r\n", line), head.size());
        const std::string_view field = head.substr(line, end - line);
        const std::size_t colon = field.find(": ");
        if (colon != std::string_view::npos) {
            response.headers.emplace_back(field.substr(0, colon), field.substr(colon + 2));
        }
        line = end + 2;
    }
    return response;
}

}  // namespace

std::string Response::header(std::string_view name) const {
    for (const auto& [key, value] : headers) {
        if (same_name(key, name)) return value;
    }
    return {};
}

std::string request_text(std::string_view method, std::string_view path, std::string_view body,
                         const Headers& headers) {
    std::string text(method);
    text.append(" ").append(path).append(" HTTP/1.1\r\n");
    const auto has = [&](std::string_view name) {
        return std::any_of(headers.begin(), headers.end(),
                           [&](const auto& header) { return same_name(header.first, name); });
    };
    if (!has("Host")) text += "Host: 127.0.0.1\r\n";
    if (!body.empty() && !has("Content-Type")) text += "Content-Type: application/json\r\n";
    if ((!body.empty() || method == "POST") && !has("Content-Length")) {
        text += "Content-Length: " + std::to_string(body.size()) + "\r\n";
    }
    for (const auto& [name, value] : headers)
        text.append(name).append(": ").append(value).append("\r\n");
    text += "\r\n";
    text += body;
    return text;
}

Client::Client(std::uint16_t port) : port_(port) {
    reconnect();
}

Client::~Client() {
    close();
}

void Client::finish_sending() {
    ::shutdown(socket_, SHUT_WR);
}

void Client::close() {
    if (socket_ >= 0) ::close(std::exchange(socket_, -1));
}

void Client::reconnect() {
    close();
    input_.clear();
    ended_ = last_one_ = false;
    socket_ = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_port = htons(port_);
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    if (connect(socket_, reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0) {
        close();
        throw std::runtime_error("cannot connect to port " + std::to_string(port_));
    }
    const int on = 1;
    setsockopt(socket_, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
}

bool Client::send(std::string_view bytes) {
    while (!bytes.empty()) {
        const ssize_t count = ::send(socket_, bytes.data(), bytes.size(), MSG_NOSIGNAL);
        if (count <= 0) return false;
        bytes.remove_prefix(static_cast<std::size_t>(count));
    }
    return true;
}

// Waits for more bytes; false at the connection's end and when time is up.
bool Client::fill(Clock::time_point deadline) {
    if (ended_ || socket_ < 0) return false;
    const auto left = std::chrono::ceil<Millis>(deadline - Clock::now()).count();
    pollfd watched{socket_, POLLIN, 0};
    if (poll(&watched, 1, static_cast<int>(std::max<std::int64_t>(left, 0))) <= 0) return false;
    std::array<char, 16 * 1024> bytes{};
    const ssize_t count = recv(socket_, bytes.data(), bytes.size(), 0);
    if (count <= 0) {
        ended_ = true;
        return false;
    }
    input_.append(bytes.data(), static_cast<std::size_t>(count));
    return true;
}

std::optional<Response> Client::receive_head(Millis patience) {
    const auto deadline = Clock::now() + patience;
    while (input_.find("\r\n\r\n") == std::string::npos) {
        if (!fill(deadline)) return std::nullopt;
    }
    const std::size_t size = input_.find("\r\n\r\n") + 4;
    Response response = parse_head(std::string_view(input_).substr(0, size - 2));
    input_.erase(0, size);
    last_one_ = response.header("Connection") == "close";
    return response;
}

std::optional<Response> Client::receive(Millis patience) {
    const auto deadline = Clock::now() + patience;
    std::optional<Response> response = receive_head(patience);
    if (!response) return std::nullopt;
    if (response->header("Transfer-Encoding") == "chunked") {
        return receive_chunks(response->body, deadline) ? response : std::nullopt;
    }
    const std::string length = response->header("Content-Length");
    const std::size_t size = length.empty() ? 0 : std::stoul(length);
    while (input_.size() < size) {
        if (!fill(deadline)) return std::nullopt;
    }
    response->body = input_.substr(0, size);
    input_.erase(0, size);
    return response;
}

// False: the end did not come in time, or at all.
bool Client::receive_chunks(std::string& body, Clock::time_point deadline) {
    for (;;) {
        std::size_t line = 0;
        while ((line = input_.find("\r\n")) == std::string::npos) {
            if (!fill(deadline)) return false;
        }
        const std::size_t begin = line + 2;
        const std::size_t size = std::stoul(input_.substr(0, line), nullptr, 16);
        while (input_.size() < begin + size + 2) {
            if (!fill(deadline)) return false;
        }
        if (input_.substr(begin + size, 2) != "\r\n") throw std::runtime_error("a broken chunk");
        body += input_.substr(begin, size);
        input_.erase(0, begin + size + 2);
        if (size == 0) return true;
    }
}

std::string Client::receive_some(Millis patience) {
    if (input_.empty()) fill(Clock::now() + patience);
    return std::exchange(input_, {});
}

Response Client::request(std::string_view method, std::string_view path, std::string_view body,
                         const Headers& headers, Millis patience) {
    if (socket_ < 0 || ended_ || last_one_) reconnect();
    send(request_text(method, path, body, headers));
    std::optional<Response> response = receive(patience);
    if (!response) {
        throw std::runtime_error("no answer to " + std::string(method) + " " + std::string(path));
    }
    return *std::move(response);
}

Response Client::get(std::string_view path, const Headers& headers) {
    return request("GET", path, "", headers);
}

Response Client::post(std::string_view path, std::string_view body, const Headers& headers) {
    return request("POST", path, body, headers);
}

bool Client::is_closed_by_peer(Millis patience) {
    const auto deadline = Clock::now() + patience;
    return input_.empty() && !fill(deadline) && ended_;
}

EventStream::EventStream(std::uint16_t port, std::string_view path, const Headers& headers,
                         Millis patience)
    : client_(port) {
    client_.send(request_text("GET", path, "", headers));
    auto head = client_.receive_head(patience);
    if (!head) throw std::runtime_error("no answer to " + std::string(path));
    head_ = *std::move(head);
    const std::string length = head_.header("Content-Length");
    const std::size_t size = length.empty() ? 0 : std::stoul(length);
    while (head_.body.size() < size) {
        const std::string more = client_.receive_some(patience);
        if (more.empty()) throw std::runtime_error("half an answer to " + std::string(path));
        head_.body += more;
    }
}

std::optional<StreamEvent> EventStream::next(Millis patience) {
    const auto deadline = Clock::now() + patience;
    for (;;) {
        const std::size_t end = text_.find("\n\n");
        if (end == std::string::npos) {
            const auto left = std::chrono::ceil<Millis>(deadline - Clock::now());
            const std::string more = client_.receive_some(std::max(left, Millis(0)));
            ended_ = more.empty() && client_.is_closed_by_peer(Millis(0));
            if (more.empty()) return std::nullopt;
            text_ += more;
            continue;
        }
        const std::string block = text_.substr(0, end + 1);
        text_.erase(0, end + 2);
        StreamEvent event;
        for (std::size_t line = 0; line < block.size();) {
            const std::size_t stop = block.find('\n', line);
            const std::string_view field(block.data() + line, stop - line);
            if (field.starts_with("id: ")) event.id = field.substr(4);
            if (field.starts_with("event: ")) event.type = field.substr(7);
            if (field.starts_with("data: ")) event.data += field.substr(6);
            line = stop + 1;
        }
        if (!event.type.empty()) return event;  // others are comments and the retry time
    }
}

std::vector<StreamEvent> EventStream::rest(Millis patience) {
    const auto deadline = Clock::now() + patience;
    std::vector<StreamEvent> events;
    for (;;) {
        const auto left = std::chrono::ceil<Millis>(deadline - Clock::now());
        auto event = next(std::max(left, Millis(0)));
        if (!event) break;
        events.push_back(*std::move(event));
    }
    if (!ended_) throw std::runtime_error("the stream did not end in time");
    return events;
}

}  // namespace sluice::e2e
