#include "interfaces/http/server/connection.hpp"

#include <boost/asio/buffer.hpp>
#include <boost/asio/post.hpp>
#include <cstdio>
#include <exception>
#include <utility>

#include "interfaces/http/message/problem.hpp"
#include "interfaces/http/message/response_writer.hpp"

namespace sluice::http {
namespace {

// Answers to pipelined requests are collected up to this size before they are written.
constexpr std::size_t output_bytes_max = 64 * 1024;

// One request and its answer, as the handler's Reply sees it. It keeps the connection, and with it
// the bytes that the Request points at, until the last copy of the Reply is gone.
class Exchange final : public Reply::Channel {
  public:
    Exchange(std::shared_ptr<Connection> connection, std::uint64_t serial)
        : connection_(std::move(connection)), serial_(serial) {}

    Exchange(const Exchange&) = delete;
    Exchange& operator=(const Exchange&) = delete;

    // The last copy of an answered Reply may be destroyed on any thread: nothing shared is read
    // then.
    ~Exchange() override {
        if (!is_answered_) connection_->answer_for_dropped_reply(serial_);
    }

    void send(Response response) override {
        is_answered_ = true;
        connection_->answer(serial_, std::move(response));
    }

    void send_pieces(AskPiece first) override {
        is_answered_ = true;
        connection_->answer_in_pieces(serial_, std::move(first));
    }

    void stream(Response head, std::unique_ptr<BodyStream> body) override {
        is_answered_ = true;
        connection_->answer_with_stream(serial_, std::move(head), std::move(body));
    }

    void on_hang_up(std::function<void()> gone) override {
        connection_->watch_for_hang_up(serial_, std::move(gone));
    }

    bool is_open() const override { return connection_->is_waiting_for(serial_); }

  private:
    std::shared_ptr<Connection> connection_;  // shared with the coroutine that serves it
    std::uint64_t serial_;
    bool is_answered_ = false;
};

}  // namespace

Connection::Connection(ServerContext& context, Socket socket, std::string remote_address)
    : context_(context), socket_(std::move(socket)) {
    wake_.emplace(socket_->get_executor(), Instant::max());
    request_.remote_address = std::move(remote_address);
    if (context_.tls) tls_.emplace(*context_.tls, socket_->native_handle());
    shaking_hands_ = tls_.has_value();
    note_time();
}

Task Connection::serve() {
    while (!broken_) {
        const Next next = advance();
        if (!output_.empty() && !write_now()) co_await write_rest();
        if (broken_) co_return;

        switch (next) {
            case Next::write_then_go_on:  // others first: a large buffer may be full of requests
                co_await asio::post(socket_->get_executor(), as_value);
                break;
            case Next::wait_for_answer:
                if (!in_work_) break;  // it came while an earlier answer was written
                if (gone_) watch_peer();
                co_await wake_->async_wait(as_values);
                break;
            case Next::read: {
                const std::span<char> space = input_.prepare();
                views_hold_ = false;
                std::size_t count = 0;
                if (tls_) {
                    count = co_await read_sealed(space);
                } else {
                    const auto target = asio::buffer(space.data(), space.size());
                    const auto [error, came] = co_await socket_->async_read_some(target, as_values);
                    if (!error) count = came;
                }
                if (count == 0 && !interrupt_) co_return;
                if (count > 0) interrupt_.reset();
                input_.commit(count);
                note_time();
                break;
            }
            case Next::send_pieces:
                co_await send_pieces();
                if (!broken_ && closing_) co_await linger();
                if (closing_) co_return;
                break;
            case Next::stream: co_await stream_body(); [[fallthrough]];
            case Next::close:
                if (!broken_) co_await linger();
                co_return;
        }
    }
}

Task Connection::refuse() {
    constexpr Rejection too_many{503, "too_many_connections",
                                 "too many connections are open (limits.connections, "
                                 "limits.connections_per_address); close some, or try again in a "
                                 "moment"};
    reject(too_many);
    if (tls_) co_return;
    if (!write_now()) co_return;  // not even these few bytes fit: the peer is not worth waiting for
    if (!broken_) co_await linger();
}

// Works off the received bytes until it has to wait.
Connection::Next Connection::advance() {
    for (;;) {
        if (in_work_) return Next::wait_for_answer;
        if (response_) {
            append_answer();
            if (stream_) return Next::stream;
            if (ask_) return Next::send_pieces;
            if (closing_) return Next::close;
            if (output_.size() >= output_bytes_max) return Next::write_then_go_on;
        }
        if (interrupt_) return reject(*interrupt_);
        if (context_.stopping) return input_.empty() ? Next::close : reject(stopping);
        if (const std::optional<Next> next = frame_request()) return *next;
        dispatch();
    }
}

// Every rejection ends the connection: the rest of the input cannot be trusted to be a request.
Connection::Next Connection::reject(const Rejection& rejection) {
    if (views_hold_ && !framing_.request_id.empty()) {
        request_.request_id.assign(framing_.request_id);
    } else {
        context_.request_ids.next(request_.request_id);
    }
    request_.verb = head_.verb;
    request_.path = views_hold_ ? path_of(framing_.target) : std::string_view();
    if (!views_hold_) request_.destination = {};
    Response response =
        problem(rejection.status, rejection.code, rejection.detail, request_.request_id);
    if (rejection.status == 503) response.headers.emplace_back("Retry-After", "1");

    Envelope envelope;
    envelope.request_id = request_.request_id;
    envelope.keep_alive = false;
    envelope.is_head = views_hold_ && head_.verb == Verb::head;
    append_response(output_, response, envelope);
    took_ = {};
    observe(rejection.status);
    return Next::close;
}

void Connection::dispatch() {
    request_.verb = head_.verb;
    request_.target = framing_.target;
    request_.path = normal_path();
    request_.query = query_of(framing_.target);
    request_.body = input_.readable().substr(head_bytes_, body_bytes_);
    request_.headers.swap(head_.headers);
    if (framing_.request_id.empty()) {
        context_.request_ids.next(request_.request_id);
    } else {
        request_.request_id.assign(framing_.request_id);
    }

    ++serial_;
    in_work_ = true;
    request_read_at_ = now_;
    enter(Phase::handling, Instant::max());
    in_handler_ = true;
    Reply reply(std::make_shared<Exchange>(shared_from_this(), serial_));
    try {
        context_.handler(request_, std::move(reply));
    } catch (const std::exception& error) {
        // The Reply is dropped by now, which answers 500, unless the handler has kept a copy.
        std::fprintf(stderr, "sluice: http handler failed: %s\n", error.what());
    }
    in_handler_ = false;
}

void Connection::append_answer() {
    Response response = std::move(*response_);
    response_.reset();
    if (stream_ && context_.streams >= context_.limits.streams) {
        stream_.reset();
        response = problem(503, "too_many_streams", "there are too many streams; try again later",
                           request_.request_id);
        response.headers.emplace_back("Retry-After", "5");
    }
    Envelope envelope;
    envelope.request_id = request_.request_id;
    envelope.is_head = request_.verb == Verb::head;
    pieces_are_chunks_ = ask_ && head_.version > 10;
    envelope.is_chunked = pieces_are_chunks_;
    envelope.is_streamed = stream_ || (ask_ && !pieces_are_chunks_);
    envelope.keep_alive = framing_.keep_alive && !context_.stopping && !envelope.is_streamed;
    envelope.says_keep_alive = framing_.says_keep_alive;
    closing_ = !envelope.keep_alive;
    append_response(output_, response, envelope);
    observe(response.status);

    if (envelope.is_head) {
        stream_.reset();
        ask_ = nullptr;
    }
    if (stream_) {
        stream_counted_ = true;
        ++context_.streams;
    }
    start_next_request();
}

void Connection::observe(int status) {
    if (!context_.observer) return;
    RequestRecord record;
    record.verb = request_.verb;
    record.path = request_.path;
    record.route = request_.destination.route;
    record.status = status;
    record.took = took_;
    record.request_id = request_.request_id;
    context_.observer(record);
}

void Connection::start_next_request() {
    input_.consume(request_bytes_);
    release_body_memory();
    head_bytes_ = 0;
    views_hold_ = false;
    is_resolved_ = false;
    scanner_.restart();
}

void Connection::enter(Phase phase, Instant deadline) {
    if (phase_ != phase) phase_since_ = now_;
    phase_ = phase;
    deadline_ = deadline;
}

void Connection::answer(std::uint64_t serial, Response response) {
    if (!is_waiting_for(serial)) return;
    response_ = std::move(response);
    in_work_ = false;
    hold_answer();
    // Held until the state is consistent: its captures may hold the last copy of the Reply.
    const std::function<void()> gone = std::exchange(gone_, nullptr);
    note_time();
    took_ = std::chrono::duration_cast<std::chrono::microseconds>(now_ - request_read_at_);
    wake();
}

void Connection::answer_with_stream(std::uint64_t serial, Response head,
                                    std::unique_ptr<BodyStream> body) {
    if (!is_waiting_for(serial)) return;
    stream_ = std::move(body);
    answer(serial, std::move(head));
}

void Connection::answer_for_dropped_reply(std::uint64_t serial) {
    if (!is_waiting_for(serial)) return;
    answer(serial, problem(500, "internal",
                           "the engine dropped the request without an answer, an error of the "
                           "engine unless it stops; report it with this request_id",
                           request_.request_id));
}

void Connection::watch_for_hang_up(std::uint64_t serial, std::function<void()> gone) {
    if (!is_waiting_for(serial)) return;
    gone_ = std::move(gone);
    // Inside the handler it is not known yet whether there will be anything to wait for.
    if (!in_handler_) watch_peer();
}

}  // namespace sluice::http
