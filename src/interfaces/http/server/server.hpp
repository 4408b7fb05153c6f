#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "interfaces/http/message/message.hpp"
#include "interfaces/http/server/answer_memory.hpp"
#include "interfaces/http/server/tls_identity.hpp"

namespace sluice::http {

struct Limits {
    std::chrono::milliseconds header_time{
        5000};  // from a request's first byte to the end of its headers
    std::chrono::milliseconds body_time{
        10000};  // for the body, plus one second for each kilobyte that has come
    std::chrono::milliseconds idle_time{30000};  // between two requests of a connection
    std::chrono::milliseconds write_time{
        30000};  // for a peer to read its answer, plus one second for each kilobyte that it took
    std::chrono::milliseconds answer_wait{5000};  // for a piece of an answer to wait for memory
    std::chrono::milliseconds spared_time{1000};  // younger ones are not cut for those that wait
    std::chrono::milliseconds stream_life{
        3600000};  // after this a streamed answer ends and is resumed
    std::size_t header_bytes = 8 * 1024;
    std::size_t header_count = 64;
    std::size_t target_bytes = 2048;
    std::size_t body_bytes = 1024 * 1024;           // unless the route says otherwise
    std::size_t body_memory = 256 * 1024 * 1024;    // of what has come of all bodies together
    std::size_t answer_memory = 256 * 1024 * 1024;  // of all answers that peers have not read yet
    std::size_t connections = 2048;
    std::size_t connections_per_address =
        128;  // loopback is exempt: proxies and local tools come from there
    std::size_t streams = 512;
};

struct ServerOptions {
    std::string host = "127.0.0.1";
    std::uint16_t port = 0;  // 0: a free one
    Limits limits{};
    std::vector<std::string>
        allowed_hosts{};  // names for the Host header, without port; empty: any
    TlsFiles tls{};       // not given: plain HTTP
};

// The record of each answered request.
struct RequestRecord {
    Verb verb = Verb::other;
    std::string_view path;
    const Route* route = nullptr;  // of the request's destination, if it has got that far
    int status = 0;
    std::chrono::microseconds took{};
    std::string_view request_id;
};

// An HTTP/1.1 server on one I/O thread, with or without TLS. Every request passes the framing gate
// before a handler sees it.
class Server {
  public:
    using Handler = std::function<void(Request&, Reply)>;
    using OnHead = std::function<std::size_t(Request&)>;
    using Observer = std::function<void(const RequestRecord&)>;

    // Binds and listens; throws std::runtime_error naming the address, or the problem with the
    // certificate, when it cannot. `handler` is called on the I/O thread for each request.
    // `on_head`, if there is one, is called once for each before its body is read, when only verb
    // and path are set: it may set the request's destination, and returns how many bytes the body
    // may have.
    Server(ServerOptions options, Handler handler, OnHead on_head, Observer observer);
    ~Server();

    std::uint16_t port() const;

    // Serves until stop() has been called and every connection is closed.
    void run();

    // Runs `task` on the I/O thread, soon. Callable from any thread.
    void post(std::function<void()> task);

    // Stops accepting; closes idle connections; connections with a request in work close after its
    // answer. Connections that are still there after `patience` are cut. Callable from any thread.
    void stop(std::chrono::milliseconds patience);

    // Calls `action` on the I/O thread once, when one of these signals arrives; from then on they
    // have their usual effect again. To be called before run().
    void on_signals(std::vector<int> signals, std::function<void(int)> action);

    // Calls `action` on the I/O thread each time this signal arrives. To be called before run().
    void on_each_signal(int signal, std::function<void()> action);

    // Reads certificate and key again. Connections that are made from now on use them; the others
    // go on as they are. Throws std::runtime_error with the problem, and keeps the pair that it
    // has. On the I/O thread.
    void reload_tls();

    // Nothing without TLS.
    std::optional<TlsIdentity> tls_identity() const;

    // Calls `action` on the I/O thread again and again, until the server has stopped.
    void every(std::chrono::milliseconds period, std::function<void()> action);

    std::size_t open_connections() const;

    // On the I/O thread.
    AnswerFigures answers() const;

  private:
    class Core;
    std::unique_ptr<Core> core_;
};

}  // namespace sluice::http
