#pragma once

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/awaitable.hpp>
#include <boost/asio/basic_stream_socket.hpp>
#include <boost/asio/basic_waitable_timer.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>

#include "interfaces/http/message/chunked_body.hpp"
#include "interfaces/http/message/framing_gate.hpp"
#include "interfaces/http/message/message.hpp"
#include "interfaces/http/server/answer_memory.hpp"
#include "interfaces/http/server/input_buffer.hpp"
#include "interfaces/http/server/request_ids.hpp"
#include "interfaces/http/server/server.hpp"
#include "interfaces/http/server/tls_link.hpp"

namespace sluice::http {

namespace asio = boost::asio;

// The concrete executor, instead of any_io_executor, saves an indirection on each operation.
using Executor = asio::io_context::executor_type;
using Socket = asio::basic_stream_socket<asio::ip::tcp, Executor>;
using Timer = asio::basic_waitable_timer<std::chrono::steady_clock,
                                         asio::wait_traits<std::chrono::steady_clock>, Executor>;
using Task = asio::awaitable<void, Executor>;
using CountTask = asio::awaitable<std::size_t, Executor>;
// The wait of the coroutines here: for a value, or for a value together with the error.
inline constexpr asio::use_awaitable_t<Executor> as_value{};
inline constexpr asio::as_tuple_t<asio::use_awaitable_t<Executor>> as_values{};
using Instant = std::chrono::steady_clock::time_point;

class Connection;

// A peer that moves so many bytes has earned as much time: one second for each kilobyte.
inline std::chrono::milliseconds time_for(std::size_t bytes) {
    return std::chrono::milliseconds(bytes * 1000 / 1024);
}

// The state that all connections of one server share. Used on the I/O thread only.
struct ServerContext {
    Limits limits;
    GateRules rules;
    Server::Handler handler;
    Server::OnHead on_head;
    Server::Observer observer;
    std::optional<TlsIdentity> tls;  // for connections to come
    std::function<void(Connection&)> on_closed;
    RequestIds request_ids;
    // Evicts connections that send slowly. False: too much is held still, and this one has to
    // close.
    std::function<bool(const Connection&)> evict_for_body;
    std::size_t streams = 0;
    std::optional<AnswerMemory> answers;  // of Limits::answer_memory; there as long as the server
    // Evicts others that read slowly until this connection may have so many bytes, or all are gone.
    std::function<void(const Connection&, std::size_t)> evict_for_answer;
    // Evicts connections that have read slowly for a while, until the first that waits can go on.
    std::function<void()> evict_for_waiting;
    std::size_t body_bytes_held = 0;  // of Limits::body_memory
    bool stopping = false;
};

// One connection: read, pass the gate, call the handler, answer, repeat.
//
// A single coroutine, serve(), does all reading and writing. Between its suspensions advance()
// works off what has been received and fills the output; so between any two steps
//   - at most one request is in work, and its bytes stay where they are in the input,
//   - answers leave in the order of the requests,
//   - what waits (for bytes, for an answer, for the peer to read) is named by the phase, together
//     with the instant after which sweep() ends the wait.
class Connection : public std::enable_shared_from_this<Connection> {
  public:
    Connection(ServerContext& context, Socket socket, std::string remote_address);

    // Runs until the connection is over; finish() must follow, also after an exception. The caller
    // of these keeps the connection alive meanwhile.
    Task serve();

    // Answers 503 without a look at the peer's bytes. With TLS there is no answer, since it would
    // cost a handshake.
    Task refuse();

    // Closes the socket and reports to the server that the connection is over.
    void finish();

    // Ends a wait that takes too long.
    void sweep(Instant now);

    // Closes unless a request is in work; that one is answered first.
    void stop();

    // Closes at once.
    void cut();

    // Drops all parts that belong to the io_context, which is about to be destroyed.
    void abandon();

    // Since when the peer has left a request or an answer half-way, if it has.
    std::optional<Instant> dawdles_since() const;

    // Since when the peer has sent no request, if it has none.
    std::optional<Instant> idles_since() const;

    // Since when a body has been on its way for which memory is held, if one is, and how much of it
    // has come in each second since then.
    std::optional<Instant> holds_memory_since() const;
    double body_bytes_per_second(Instant now) const;

    // Since when an answer has waited for the peer to read it, if one does for which memory is
    // held, and how much of it the peer has read in each second since then.
    std::optional<Instant> leaves_unread_since() const;
    double bytes_read_per_second(Instant now) const;

    // Its share of ServerContext::answers.
    std::size_t held_answer_bytes() const { return held_answer_bytes_; }

    // Goes on if there is memory now for the piece that it waits for. False: there is not.
    bool go_on_with_memory();

    // Whether there is memory for the piece that it waits for.
    bool has_memory() const;

    const std::string& remote_address() const { return request_.remote_address; }

    std::size_t position = 0;  // in the server's list of connections
    bool is_admitted = true;   // within the limits
    bool is_counted_by_address = false;

    // The calls of a Reply. `serial` names the exchange; calls for one that is over are ignored.
    void answer(std::uint64_t serial, Response response);
    void answer_in_pieces(std::uint64_t serial, AskPiece first);
    void answer_with_stream(std::uint64_t serial, Response head, std::unique_ptr<BodyStream> body);
    void answer_for_dropped_reply(std::uint64_t serial);
    void watch_for_hang_up(std::uint64_t serial, std::function<void()> gone);
    bool is_waiting_for(std::uint64_t serial) const { return in_work_ && serial == serial_; }

  private:
    enum class Phase { start, idle, head, body, handling, writing, streaming, lingering };
    enum class Next { read, write_then_go_on, wait_for_answer, send_pieces, stream, close };

    static constexpr Rejection too_slow{408, "request_timeout",
                                        "the request did not arrive in time"};
    static constexpr Rejection stopping{503, "stopping",
                                        "the server is stopping; repeat the request"};
    static constexpr Rejection no_body_memory{
        503, "busy", "too many large request bodies are on their way; try again later"};
    static constexpr Rejection no_answer_memory{
        503, "busy", "too many large answers are on their way; try again later"};
    static constexpr Rejection speaks_no_tls{400, "https_required",
                                             "this port speaks HTTPS; use https:// in the URL"};

    // connection_input.cpp: from bytes to requests
    std::optional<Next> frame_request();
    std::optional<Rejection> pass_gate();
    std::optional<Rejection> take_body(bool& is_whole);
    std::string_view normal_path();
    void resolve_destination();
    bool hold_body_memory(std::size_t received);
    void release_body_memory();
    Next wait_for_bytes(Phase phase, std::chrono::milliseconds patience);
    Next wait_for_body();
    void extend_body_time();

    // connection.cpp: from requests to answers
    Next advance();
    Next reject(const Rejection& rejection);
    void dispatch();
    void append_answer();
    void observe(int status);
    void start_next_request();
    void enter(Phase phase, Instant deadline);
    void note_time() { now_ = std::chrono::steady_clock::now(); }

    // connection_pieces.cpp: answers that are made as the peer takes them, and their memory
    void ask_piece();
    void take_piece(std::uint64_t serial, AnswerPiece piece);
    void append_piece(std::string_view bytes, bool is_last);
    bool is_asking_for(std::uint64_t serial) const;
    void wait_for_memory(std::size_t bytes);
    void stop_waiting_for_memory();
    void give_up_memory();
    Task send_pieces();
    std::size_t answer_bytes() const;
    void count_answer();
    void hold_answer();
    void drop_answer();

    // connection_io.cpp: the socket
    bool write_now();
    bool write_sealed_now();
    void drop_output();
    CountTask read_sealed(std::span<char> space);
    void mind_sealed_bytes();
    Task write_rest();
    Task linger();
    Task stream_body();
    void on_stream_ready();
    void end_stream();
    void watch_peer();
    void wait_for_peer();
    std::optional<std::size_t> look_at_peer(bool take);
    void on_peer_activity();
    void hang_up();
    void close_socket();
    void wake();

    ServerContext& context_;
    std::optional<Socket> socket_;  // empty once the connection is over
    std::optional<Timer> wake_;     // never expires; cancelled to wake serve()
    bool broken_ = false;           // the socket is closed or has failed
    std::optional<TlsLink> tls_;    // nothing: plain HTTP
    bool shaking_hands_ = false;    // for TLS

    InputBuffer input_;
    std::string output_;
    std::size_t written_ = 0;               // of output_
    std::size_t written_before_block_ = 0;  // of output_
    std::size_t held_answer_bytes_ = 0;     // of ServerContext::answers

    Phase phase_ = Phase::start;
    Instant now_{};
    Instant deadline_ = Instant::max();
    Instant phase_since_{};
    std::optional<Rejection> interrupt_;  // why a read was cancelled

    HeadScanner scanner_;
    Head head_;
    Framing framing_;
    ChunkedBody chunks_;
    std::string decoded_path_;
    std::size_t head_bytes_ = 0;  // 0: the head is not complete yet
    std::size_t body_bytes_ = 0;  // what has come of the body, without the lines between chunks
    std::size_t request_bytes_ =
        0;                        // what the request takes in input_, once it is there as a whole
    std::size_t held_bytes_ = 0;  // of ServerContext::body_bytes_held
    std::size_t sealed_bytes_before_body_ = 0;
    bool views_hold_ = false;         // whether head_ still points at the bytes in input_
    bool is_resolved_ = false;        // whether the destination of the request is known
    std::size_t body_bytes_max_ = 0;  // as its destination says
    Request request_;
    Instant request_read_at_{};

    std::uint64_t serial_ = 0;  // of the newest exchange
    bool in_work_ = false;      // whether that one is still to be answered
    std::optional<Response> response_;
    std::chrono::microseconds took_{};
    std::function<void()> gone_;
    bool in_handler_ = false;
    bool watching_ = false;
    bool closing_ = false;  // the answer at hand is the last one

    AskPiece ask_;               // for the next piece of the answer
    bool awaits_piece_ = false;  // which is not the first one
    bool pieces_are_chunks_ = false;
    std::size_t kept_memory_ = 0;     // for the piece that is being made
    std::size_t awaited_memory_ = 0;  // 0: it waits for none
    Instant memory_deadline_{};

    std::unique_ptr<BodyStream> stream_;
    bool stream_counted_ = false;
    bool stream_has_more_ = true;
    bool stream_ready_ = false;
    bool stream_over_ = false;
    bool write_blocked_ = false;
    std::size_t discarded_bytes_ = 0;
};

}  // namespace sluice::http
