#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "e2e/process.hpp"

namespace sluice::e2e {

using Headers = std::vector<std::pair<std::string, std::string>>;

struct Response {
    int status = 0;
    Headers headers{};
    std::string body{};

    // The value of the first header of this name (any case); empty when it is absent.
    std::string header(std::string_view name) const;
};

// A blocking client on one connection that is kept alive. One thread.
class Client {
  public:
    explicit Client(std::uint16_t port);
    ~Client();
    Client(const Client&) = delete;
    Client& operator=(const Client&) = delete;

    // Sends bytes as they are; false when the peer does not take them.
    bool send(std::string_view bytes);

    // The next response. Nothing: the peer closed the connection, or did not answer in time.
    std::optional<Response> receive(Millis patience = Millis(15'000));

    // The head of the next response alone, for answers that are streamed.
    std::optional<Response> receive_head(Millis patience = Millis(15'000));

    // The next bytes, at least one; empty at the connection's end or when time is up.
    std::string receive_some(Millis patience);

    // A request and its answer, on a new connection when the old one was closed. Throws when there
    // is none.
    Response get(std::string_view path, const Headers& headers = {});
    Response post(std::string_view path, std::string_view body, const Headers& headers = {});
    Response request(std::string_view method, std::string_view path, std::string_view body,
                     const Headers& headers = {}, Millis patience = Millis(15'000));

    // Whether the peer closes the connection within this time without sending more.
    bool is_closed_by_peer(Millis patience);

    // Closes the sending side; answers can still be read.
    void finish_sending();

    void reconnect();
    void close();

  private:
    bool fill(std::chrono::steady_clock::time_point deadline);
    bool receive_chunks(std::string& body, std::chrono::steady_clock::time_point deadline);

    std::uint16_t port_;
    int socket_ = -1;
    std::string input_;
    bool ended_ = false;     // the peer has closed its side
    bool last_one_ = false;  // the response says that the connection closes
};

// The text of a request, with Host, and with Content-Type and Content-Length when it has a body.
std::string request_text(std::string_view method, std::string_view path, std::string_view body,
                         const Headers& headers = {});

struct StreamEvent {
    std::string id{};
    std::string type{};
    std::string data{};
};

// Server-Sent Events as they come.
class EventStream {
  public:
    EventStream(std::uint16_t port, std::string_view path, const Headers& headers = {},
                Millis patience = Millis(15'000));

    // The head of the answer; with its body when it is no stream.
    const Response& head() const { return head_; }

    // The next event. Nothing: the stream has ended, or none came in time.
    std::optional<StreamEvent> next(Millis patience = Millis(10'000));

    // All events up to the end of the stream, which must come in time.
    std::vector<StreamEvent> rest(Millis patience = Millis(10'000));

    bool ended() const { return ended_; }

  private:
    Client client_;
    Response head_;
    std::string text_;
    bool ended_ = false;
};

}  // namespace sluice::e2e
