#include <sys/socket.h>

#include <array>
#include <boost/asio/as_tuple.hpp>
#include <boost/asio/buffer.hpp>
#include <boost/asio/error.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <cerrno>
#include <span>
#include <utility>

#include "interfaces/http/connection.hpp"

// The connection's side towards the socket: writing, streaming, noticing that the peer is gone, and
// the ways in which a connection ends.

namespace sluice::http {
namespace {

using boost::system::error_code;

constexpr asio::use_awaitable_t<Executor> as_value{};
constexpr asio::as_tuple_t<asio::use_awaitable_t<Executor>> as_values{};

constexpr std::chrono::seconds linger_time{1};
constexpr std::size_t linger_bytes_max = 1024 * 1024;
constexpr int stream_buffer_bytes = 64 * 1024;  // the kernel may hold this much for a slow reader
constexpr std::size_t output_bytes_kept = 32 * 1024;
constexpr std::size_t discarded_bytes_max = 64 * 1024;

}  // namespace

// Tries without suspending, which nearly always suffices. False: the socket does not take all of
// it.
bool Connection::write_now() {
    error_code error;
    const auto rest = asio::buffer(output_.data() + written_, output_.size() - written_);
    written_ += socket_->write_some(rest, error);
    if (error == asio::error::would_block || error == asio::error::try_again) return false;
    if (error) close_socket();
    if (!error && written_ < output_.size()) return false;
    output_.clear();
    written_ = 0;
    if (output_.capacity() > output_bytes_kept) output_.shrink_to_fit();
    return true;
}

Task Connection::write_rest() {
    const Phase phase = phase_;
    const Instant deadline = deadline_;
    note_time();
    const Instant start = now_;
    write_blocked_ = true;
    do {
        enter(Phase::writing, now_ + context_.limits.write_time);
        co_await socket_->async_wait(Socket::wait_write, as_values);
        note_time();
    } while (!broken_ && !write_now());
    write_blocked_ = false;
    // The time that the peer took to read is not taken from what it has for its next request.
    enter(phase, deadline == Instant::max() ? deadline : deadline + (now_ - start));
}

// Closes in a way that lets the peer read the answer: closing while bytes of it are unread would
// reset the connection and may take the answer away from it.
Task Connection::linger() {
    error_code ignored;
    socket_->shutdown(Socket::shutdown_send, ignored);
    note_time();
    enter(Phase::lingering, now_ + linger_time);
    input_.consume(input_.readable().size());
    for (std::size_t drained = 0; !broken_ && drained < linger_bytes_max;) {
        const std::span<char> room = input_.prepare();
        const auto target = asio::buffer(room.data(), room.size());
        const auto [error, count] = co_await socket_->async_read_some(target, as_values);
        if (error) co_return;
        drained += count;
    }
}

// Each round takes what there is and writes it. Nothing is taken while the peer does not read, so
// that a slow one costs no memory; one that does not read at all is cut after the write time.
Task Connection::stream_body() {
    error_code ignored;
    const asio::socket_base::send_buffer_size send_buffer(stream_buffer_bytes);
    socket_->set_option(send_buffer, ignored);
    note_time();
    const Instant end = now_ + context_.limits.stream_life;
    stream_->on_ready([weak = weak_from_this()] {
        if (const auto self = weak.lock()) self->on_stream_ready();
    });
    watch_peer();

    while (!broken_ && !stream_over_ && !context_.stopping) {
        enter(Phase::streaming, end);
        stream_ready_ = false;
        if (stream_has_more_) stream_has_more_ = stream_->pull(output_);
        if (!output_.empty()) {
            if (!write_now()) co_await write_rest();
            if (!broken_) co_await asio::post(socket_->get_executor(), as_value);  // others first
        } else if (!stream_has_more_) {
            break;
        } else if (!stream_ready_) {
            co_await wake_->async_wait(as_values);
        }
    }
    stream_.reset();
    if (std::exchange(stream_counted_, false)) --context_.streams;
}

void Connection::on_stream_ready() {
    stream_ready_ = true;
    if (!write_blocked_) wake();
}

void Connection::end_stream() {
    stream_over_ = true;
    if (write_blocked_) return cut();
    wake();
}

// Asks once to be told when there is something to read, be it the end. A wait that is still pending
// when the next read starts does no harm: both complete.
void Connection::watch_peer() {
    if (watching_ || broken_) return;
    watching_ = true;
    socket_->async_wait(Socket::wait_read, [self = shared_from_this()](const error_code& error) {
        self->watching_ = false;
        if (!error && !self->broken_) self->on_peer_activity();
    });
}

void Connection::on_peer_activity() {
    const bool is_streaming = stream_ != nullptr;
    if (!is_streaming && !(in_work_ && gone_)) return;

    // A streamed answer is the last one, so what the peer still sends is dropped; otherwise it is
    // the next request and stays where it is.
    std::array<char, 1024> scratch{};
    const int flags = MSG_DONTWAIT | (is_streaming ? 0 : MSG_PEEK);
    const auto count = ::recv(socket_->native_handle(), scratch.data(), scratch.size(), flags);
    if (count > 0) {
        if (!is_streaming) return;
        discarded_bytes_ += static_cast<std::size_t>(count);
        if (discarded_bytes_ > discarded_bytes_max) return cut();
        return watch_peer();
    }
    if (count < 0 && (errno == EAGAIN || errno == EWOULDBLOCK || errno == EINTR)) {
        return watch_peer();
    }
    hang_up();
}

// The peer is gone, or is treated as if it were. Whoever works on its request is told.
void Connection::hang_up() {
    in_work_ = false;
    const std::function<void()> gone = std::exchange(gone_, nullptr);
    close_socket();
    if (gone) gone();
}

void Connection::cut() {
    hang_up();
}

void Connection::close_socket() {
    broken_ = true;
    error_code ignored;
    if (socket_) socket_->close(ignored);
    wake();
}

void Connection::wake() {
    if (wake_) wake_->cancel();
}

void Connection::sweep(Instant now) {
    if (now < deadline_ || broken_) return;
    error_code ignored;
    switch (phase_) {
        case Phase::idle: socket_->cancel(ignored); break;
        case Phase::head:
        case Phase::body:
            interrupt_ = too_slow;
            socket_->cancel(ignored);
            break;
        case Phase::start:
        case Phase::handling: break;
        case Phase::streaming: end_stream(); break;
        case Phase::writing:
        case Phase::lingering: cut(); break;
    }
}

void Connection::stop() {
    if (broken_) return;
    error_code ignored;
    if (stream_) return end_stream();
    const bool has_part_of_request = phase_ == Phase::head || phase_ == Phase::body;
    if (has_part_of_request) interrupt_ = stopping;
    if (has_part_of_request || phase_ == Phase::idle) socket_->cancel(ignored);
}

void Connection::abandon() {
    in_work_ = false;
    broken_ = true;
    gone_ = nullptr;
    socket_.reset();
    wake_.reset();
}

void Connection::finish() {
    hang_up();
    stream_.reset();
    if (std::exchange(stream_counted_, false)) --context_.streams;
    socket_.reset();
    wake_.reset();
    context_.on_closed(*this);
}

}  // namespace sluice::http
