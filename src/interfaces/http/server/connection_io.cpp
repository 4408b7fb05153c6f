#include <netinet/tcp.h>
#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <boost/asio/buffer.hpp>
#include <boost/asio/error.hpp>
#include <boost/asio/post.hpp>
#include <cerrno>
#include <span>
#include <utility>

#include "interfaces/http/server/connection.hpp"

// The connection's side towards the socket: writing, streaming, noticing that the peer is gone, and
// the ways in which a connection ends.

namespace sluice::http {
namespace {

using boost::system::error_code;

constexpr std::chrono::seconds linger_time{1};
constexpr std::size_t linger_bytes_max = 1024 * 1024;
constexpr int stream_buffer_bytes = 64 * 1024;  // the kernel may hold this much for a slow reader
constexpr std::size_t output_bytes_kept = 32 * 1024;
constexpr std::size_t discarded_bytes_max = 64 * 1024;

}  // namespace

// Tries without suspending, which nearly always suffices. False: the socket does not take all of
// it.
bool Connection::write_now() {
    if (tls_) return write_sealed_now();
    error_code error;
    const auto rest = asio::buffer(output_.data() + written_, output_.size() - written_);
    written_ += socket_->write_some(rest, error);
    if (error == asio::error::would_block || error == asio::error::try_again) return false;
    if (error) close_socket();
    if (!error && written_ < output_.size()) return false;
    drop_output();
    return true;
}

bool Connection::write_sealed_now() {
    const auto [step, bytes] = tls_->write(std::string_view(output_).substr(written_));
    written_ += bytes;
    if (step == TlsLink::Step::wait_to_write) return false;
    if (step != TlsLink::Step::done) close_socket();
    drop_output();
    return true;
}

void Connection::drop_output() {
    output_.clear();
    written_ = 0;
    if (output_.capacity() > output_bytes_kept) output_.shrink_to_fit();
    if (held_answer_bytes_ > 0) count_answer();
}

// Reads until there are plain bytes. Zero: none will come, or the wait was interrupted.
CountTask Connection::read_sealed(std::span<char> space) {
    for (;;) {
        const auto [step, bytes] = tls_->read(space);
        if (step == TlsLink::Step::done) co_return bytes;
        if (step == TlsLink::Step::over) break;

        mind_sealed_bytes();
        const bool to_read = step == TlsLink::Step::wait_to_read;
        const auto [error] = co_await socket_->async_wait(
            to_read ? Socket::wait_read : Socket::wait_write, as_values);
        if (error || broken_) break;
        note_time();
    }
    if (tls_->is_ready()) co_return 0;
    interrupt_.reset();  // without a handshake the peer cannot be told
    if (tls_->met_plain_http()) {
        tls_.reset();
        interrupt_ = speaks_no_tls;
    }
    co_return 0;
}

// The handshake, and a record that has not come as a whole, take from the time for the headers: a
// peer that sends them bit by bit is not idle.
void Connection::mind_sealed_bytes() {
    if (shaking_hands_ && tls_->is_ready()) {
        shaking_hands_ = false;
        // We say nothing after the handshake, and a peer that holds its request back until we have
        // acknowledged its last bytes would wait 40 ms for the kernel to do so by itself.
        const int at_once = 1;
        ::setsockopt(socket_->native_handle(), IPPROTO_TCP, TCP_QUICKACK, &at_once,
                     sizeof(at_once));
        const bool has_asked = !input_.empty();  // the first bytes came with the last of these
        if (phase_ == Phase::head && has_asked) deadline_ = now_ + context_.limits.header_time;
        if (phase_ == Phase::head && !has_asked) {
            enter(Phase::idle, now_ + context_.limits.idle_time);
        }
    }
    if (phase_ == Phase::body) extend_body_time();
    const bool has_begun = shaking_hands_ || tls_->has_unread();
    if (has_begun && phase_ == Phase::idle) {
        enter(Phase::head, now_ + context_.limits.header_time);
    }
}

Task Connection::write_rest() {
    const Phase phase = phase_;
    const Instant deadline = deadline_;
    note_time();
    const Instant start = now_;
    written_before_block_ = written_;
    write_blocked_ = true;
    enter(Phase::writing, Instant::max());
    hold_answer();
    while (!broken_) {
        const auto for_size = time_for(written_ - written_before_block_);
        enter(Phase::writing, start + context_.limits.write_time + for_size);
        co_await socket_->async_wait(Socket::wait_write, as_values);
        note_time();
        if (broken_ || write_now()) break;
    }
    write_blocked_ = false;
    // The time that the peer took to read is not taken from what it has for its next request.
    enter(phase, deadline == Instant::max() ? deadline : deadline + (now_ - start));
}

// Closes in a way that lets the peer read the answer: closing while bytes of it are unread would
// reset the connection and may take the answer away from it.
Task Connection::linger() {
    error_code ignored;
    if (tls_) tls_->say_goodbye();
    socket_->shutdown(Socket::shutdown_send, ignored);
    note_time();
    enter(Phase::lingering, now_ + linger_time);
    input_.consume(input_.readable().size());
    release_body_memory();
    for (std::size_t drained = 0; !broken_ && drained < linger_bytes_max;) {
        const std::span<char> space = input_.prepare();
        const auto target = asio::buffer(space.data(), space.size());
        const auto [error, count] = co_await socket_->async_read_some(target, as_values);
        if (error) co_return;
        drained += count;
    }
}

// Each round takes the available bytes and writes them. Nothing is taken while the peer does not
// read, so that a slow one costs no memory; one that does not read at all is cut after the write
// time.
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
    if (!tls_ || !tls_->has_unread()) return wait_for_peer();
    watching_ = true;  // the socket does not report bytes that were read already
    asio::post(socket_->get_executor(), [self = shared_from_this()] {
        self->watching_ = false;
        if (!self->broken_) self->on_peer_activity();
    });
}

void Connection::wait_for_peer() {
    watching_ = true;
    socket_->async_wait(Socket::wait_read, [self = shared_from_this()](const error_code& error) {
        self->watching_ = false;
        if (!error && !self->broken_) self->on_peer_activity();
    });
}

// How many bytes of the peer are there, or were taken and dropped. Nothing: the peer is gone.
std::optional<std::size_t> Connection::look_at_peer(bool take) {
    std::array<char, 1024> scratch{};
    if (tls_) {
        const TlsLink::Outcome outcome =
            take ? tls_->read(scratch) : TlsLink::Outcome{.step = tls_->peek(), .bytes = 1};
        if (outcome.step == TlsLink::Step::over) return std::nullopt;
        return outcome.step == TlsLink::Step::done ? outcome.bytes : 0;
    }
    const int flags = MSG_DONTWAIT | (take ? 0 : MSG_PEEK);
    const auto count = ::recv(socket_->native_handle(), scratch.data(), scratch.size(), flags);
    if (count > 0) return static_cast<std::size_t>(count);
    if (count < 0 && (errno == EAGAIN || errno == EWOULDBLOCK || errno == EINTR)) return 0;
    return std::nullopt;
}

void Connection::on_peer_activity() {
    const bool is_streaming = stream_ != nullptr;
    if (!is_streaming && !(in_work_ && gone_)) return;

    // A streamed answer is the last one, so what the peer still sends is dropped; otherwise it is
    // the next request and stays where it is.
    const std::optional<std::size_t> bytes = look_at_peer(is_streaming);
    if (!bytes) return hang_up();
    if (*bytes == 0) return wait_for_peer();
    if (!is_streaming) return;
    discarded_bytes_ += *bytes;
    if (discarded_bytes_ > discarded_bytes_max) return cut();
    watch_peer();
}

// The peer is gone, or is treated as if it were. The handler of its request is told.
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
    release_body_memory();
    drop_answer();
    error_code ignored;
    if (socket_) socket_->close(ignored);
    wake();
}

void Connection::wake() {
    if (wake_) wake_->cancel();
}

std::optional<Instant> Connection::dawdles_since() const {
    const bool is_half_way = phase_ == Phase::head || phase_ == Phase::body ||
                             (phase_ == Phase::writing && !stream_) || phase_ == Phase::lingering;
    return is_half_way && !broken_ ? std::optional(phase_since_) : std::nullopt;
}

std::optional<Instant> Connection::idles_since() const {
    return phase_ == Phase::idle && !broken_ ? std::optional(phase_since_) : std::nullopt;
}

std::optional<Instant> Connection::leaves_unread_since() const {
    const bool holds = write_blocked_ && held_answer_bytes_ > 0 && !broken_;
    return holds ? std::optional(phase_since_) : std::nullopt;
}

double Connection::bytes_read_per_second(Instant now) const {
    const std::chrono::duration<double> taken = now - phase_since_;
    return static_cast<double>(written_ - written_before_block_) / std::max(taken.count(), 0.001);
}

std::optional<Instant> Connection::holds_memory_since() const {
    const bool holds = phase_ == Phase::body && held_bytes_ > 0 && !broken_;
    return holds ? std::optional(phase_since_) : std::nullopt;
}

double Connection::body_bytes_per_second(Instant now) const {
    const std::chrono::duration<double> taken = now - phase_since_;
    return static_cast<double>(held_bytes_) / std::max(taken.count(), 0.001);
}

void Connection::sweep(Instant now) {
    if (awaited_memory_ > 0 && now >= memory_deadline_) give_up_memory();
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
    ask_ = nullptr;
    socket_.reset();
    wake_.reset();
}

void Connection::finish() {
    hang_up();
    ask_ = nullptr;
    stream_.reset();
    if (std::exchange(stream_counted_, false)) --context_.streams;
    socket_.reset();
    wake_.reset();
    context_.on_closed(*this);
}

}  // namespace sluice::http
