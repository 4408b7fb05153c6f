#pragma once

#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "interfaces/http/message/destination.hpp"
#include "json/reading.hpp"

namespace sluice::http {

enum class Verb { get, head, post, put, patch, remove, options, other };

std::string_view to_text(Verb verb);

struct HeaderField {
    std::string_view name;
    std::string_view value;
};

// One request that has passed the framing gate. It and its views stay valid until it was answered
// or, when the peer goes away before that, until the last copy of its Reply is gone.
struct Request {
    Verb verb = Verb::other;
    std::string_view target;  // as sent: path and query, without a host before them
    std::string_view path;    // without the query, unreserved characters decoded
    std::string_view query;   // as sent, without the question mark
    std::string_view body;
    std::vector<HeaderField> headers;
    std::string request_id;      // made by the server, or taken from a well-formed X-Request-Id
    std::string remote_address;  // without the port
    Destination destination{};   // of its verb and path
    Reading reading = Reading::strict;  // of its body and query, as its contract says

    // The segment of the path at this {…} of its route's pattern; empty when there are fewer.
    std::string_view param(std::size_t index) const { return destination.params.in(path, index); }

    // The value of the first header of this name (any case), or nothing when it is absent.
    const std::string_view* header(std::string_view name) const;
};

struct Response {
    int status = 200;
    std::string content_type = "application/json";  // not sent when the body is empty
    std::string body{};
    std::vector<std::pair<std::string, std::string>> headers{};
};

struct AnswerPiece;

// Makes a piece of an answer and calls `came` with it, once, on the I/O thread. It may be called
// again, and makes the same piece anew then.
using AskPiece = std::function<void(std::function<void(AnswerPiece)> came)>;

// Part of an answer that is too large to be held as a whole. Only the first one has status and
// headers.
struct AnswerPiece {
    Response response{};
    AskPiece rest{};      // for the piece that follows; none: this was the last one
    bool failed = false;  // it could not be made; if it is not the first, the answer ends half-way
};

// A response body that is written bit by bit while it comes into being. Lives on the I/O thread.
class BodyStream {
  public:
    virtual ~BodyStream() = default;

    // Tells the stream how to say that there is something to pull. Called once, before the first
    // pull. `ready` may be called at any time on the I/O thread, also after the stream's end.
    virtual void on_ready(std::function<void()> ready) = 0;

    // Appends the available bytes to `out`, up to a few tens of kilobytes, and returns false once
    // nothing will follow. Appending nothing means: wait for `ready`.
    virtual bool pull(std::string& out) = 0;
};

// Answers one request, exactly once, on the I/O thread. May be kept until later; copies share one
// answer. When the peer has gone away the answer is dropped. When the last copy goes without an
// answer, which must happen on the I/O thread too, the server answers 500 instead.
class Reply {
  public:
    class Channel {  // the connection's side of it
      public:
        virtual ~Channel() = default;
        virtual void send(Response response) = 0;
        virtual void send_pieces(AskPiece first) = 0;
        virtual void stream(Response head, std::unique_ptr<BodyStream> body) = 0;
        virtual void on_hang_up(std::function<void()> gone) = 0;
        virtual bool is_open() const = 0;
    };

    explicit Reply(std::shared_ptr<Channel> channel) : channel_(std::move(channel)) {}

    void send(Response response) const { channel_->send(std::move(response)); }

    // Answers with the piece that `first` makes, and then with the pieces that follow, each asked
    // for when the peer has taken the one before. While there is no memory for a piece, it is
    // dropped, and asked for again later; the peer gets 503 when that takes too long. The request
    // stays valid while a piece is being made.
    void send_pieces(AskPiece first) const { channel_->send_pieces(std::move(first)); }

    // Answers with `head` and then with the bytes of `body`, until it ends; the connection closes
    // then.
    void stream(Response head, std::unique_ptr<BodyStream> body) const {
        channel_->stream(std::move(head), std::move(body));
    }

    // Calls `gone` when the peer closes the connection, or the server cuts it, before it was
    // answered. A peer that has sent another request meanwhile is no longer watched.
    void on_hang_up(std::function<void()> gone) const { channel_->on_hang_up(std::move(gone)); }

    // Whether an answer can still reach the peer.
    bool is_open() const { return channel_->is_open(); }

  private:
    std::shared_ptr<Channel>
        channel_;  // shared: the connection and the handler may end in either order
};

}  // namespace sluice::http
