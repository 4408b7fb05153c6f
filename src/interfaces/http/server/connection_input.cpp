#include <algorithm>
#include <utility>

#include "interfaces/http/message/request_parser.hpp"
#include "interfaces/http/message/url.hpp"
#include "interfaces/http/server/connection.hpp"

// The connection's side towards requests: which bytes are one, and the time and memory that the
// rest of it gets.

namespace sluice::http {

// Returns nothing once a whole request has arrived and has passed the gate.
std::optional<Connection::Next> Connection::frame_request() {
    const Limits& limits = context_.limits;
    const std::string_view bytes = input_.readable();
    if (head_bytes_ == 0) {
        if (bytes.empty()) return wait_for_bytes(Phase::idle, limits.idle_time);
        const HeadScanner::Outcome outcome = scanner_.scan(bytes, context_.rules);
        if (const auto* rejection = std::get_if<Rejection>(&outcome)) return reject(*rejection);
        const auto* complete = std::get_if<HeadScanner::Complete>(&outcome);
        if (!complete) return wait_for_bytes(Phase::head, limits.header_time);

        head_bytes_ = complete->head_bytes;
        if (const auto rejection = pass_gate()) return reject(*rejection);
        if (framing_.body_bytes > limits.body_memory) return reject(no_body_memory);
        if (framing_.expects_continue && framing_.has_body() && bytes.size() == head_bytes_) {
            output_ += "HTTP/1.1 100 Continue\r\n\r\n";
        }
        body_bytes_ = 0;
        if (framing_.is_chunked) chunks_ = ChunkedBody(body_bytes_max_);
    }
    bool is_whole = false;
    if (const auto rejection = take_body(is_whole)) return reject(*rejection);
    if (!hold_body_memory(body_bytes_)) return reject(no_body_memory);
    if (!is_whole) return wait_for_body();
    if (!views_hold_) {  // the bytes have moved since: the same bytes pass again
        if (const auto rejection = pass_gate()) return reject(*rejection);
    }
    return std::nullopt;
}

std::optional<Rejection> Connection::pass_gate() {
    const std::string_view bytes = input_.readable().substr(0, head_bytes_);
    if (const auto rejection = parse_head(bytes, head_)) return rejection;
    const auto checked = check_framing(head_, context_.rules);
    if (const auto* rejection = std::get_if<Rejection>(&checked)) return *rejection;
    framing_ = std::get<Framing>(checked);
    views_hold_ = true;
    resolve_destination();
    if (framing_.body_bytes == 0) return std::nullopt;
    return check_body_size(framing_, body_bytes_max_);
}

// Chunks are taken off where the body lies, so that its received part follows the head without a
// gap; bytes after a whole body stay where they are.
std::optional<Rejection> Connection::take_body(bool& is_whole) {
    if (!framing_.is_chunked) {
        body_bytes_ = std::min(input_.readable().size() - head_bytes_, framing_.body_bytes);
        request_bytes_ = head_bytes_ + body_bytes_;
        is_whole = body_bytes_ == framing_.body_bytes;
        return std::nullopt;
    }
    const std::size_t taken = head_bytes_ + body_bytes_;
    const ChunkedBody::Outcome outcome = chunks_.take(input_.from(taken));
    if (const auto* rejection = std::get_if<Rejection>(&outcome)) return *rejection;
    body_bytes_ = chunks_.body_bytes();
    if (const auto* complete = std::get_if<ChunkedBody::Complete>(&outcome)) {
        request_bytes_ = taken + complete->used;
        is_whole = true;
    } else {
        input_.keep(head_bytes_ + body_bytes_);
    }
    return std::nullopt;
}

std::string_view Connection::normal_path() {
    const std::string_view path = path_of(framing_.target);
    if (path.find('%') == std::string_view::npos) return path;
    decoded_path_ = decode_unreserved(path);
    return decoded_path_;
}

// Once for each request: when its bytes have moved, the same head passes the gate again.
void Connection::resolve_destination() {
    if (std::exchange(is_resolved_, true)) return;
    request_.verb = head_.verb;
    request_.path = normal_path();
    request_.destination = {};
    body_bytes_max_ = context_.on_head ? context_.on_head(request_) : context_.limits.body_bytes;
}

Connection::Next Connection::wait_for_bytes(Phase phase, std::chrono::milliseconds patience) {
    if (phase_ != phase) enter(phase, now_ + patience);  // bytes that trickle in extend nothing
    return Next::read;
}

Connection::Next Connection::wait_for_body() {
    if (phase_ != Phase::body) {
        enter(Phase::body, now_);
        if (tls_) sealed_bytes_before_body_ = tls_->received_bytes();
    }
    extend_body_time();
    return Next::read;
}

// Each kilobyte that came is worth another second, so that a body needs a rate, and a peer that
// announces one and sends nothing is cut soon. With TLS the received part of a record counts as
// well, since none of its 16 kB can be read before all are there.
void Connection::extend_body_time() {
    std::size_t came = input_.readable().size() - head_bytes_;
    if (tls_) came = std::max(came, tls_->received_bytes() - sealed_bytes_before_body_);
    deadline_ = phase_since_ + context_.limits.body_time + time_for(came);
}

// The received bytes of the body are counted, not the announced ones, which cost the peer nothing.
// As long as it fits into the buffer which every connection has, it costs nothing more, and is let
// through even when all memory is held.
bool Connection::hold_body_memory(std::size_t received) {
    if (head_bytes_ + received <= InputBuffer::initial_bytes) return true;
    const std::size_t more = received - held_bytes_;
    held_bytes_ += more;
    context_.body_bytes_held += more;
    const bool is_within = context_.body_bytes_held <= context_.limits.body_memory;
    return is_within || context_.evict_for_body(*this);
}

void Connection::release_body_memory() {
    context_.body_bytes_held -= std::exchange(held_bytes_, 0);
}

}  // namespace sluice::http
