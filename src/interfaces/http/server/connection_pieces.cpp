#include <algorithm>
#include <boost/asio/post.hpp>
#include <utility>

#include "interfaces/http/message/problem.hpp"
#include "interfaces/http/message/response_writer.hpp"
#include "interfaces/http/server/connection.hpp"

// Answers that are made piece by piece, and the memory that answers hold.
//
// The bytes of an answer are counted from the moment in which they arrive here until the socket has
// taken all of them. A piece for which there is no memory is dropped, and only its size waits until
// there is; then so much memory is kept for it, and it is made again. So the bytes of all
// connections stay within the limit at any time, except for the small share that each connection
// has besides, and for one answer that cannot be made again, such as that of a claim, which takes
// its memory from the slowest readers.

namespace sluice::http {
namespace {

// The bytes that a head, or the ends of a chunk, add to a body.
constexpr std::size_t head_bytes = 1024;

}  // namespace

void Connection::answer_in_pieces(std::uint64_t serial, AskPiece first) {
    if (!is_waiting_for(serial)) return;
    ask_ = std::move(first);
    ask_piece();
}

// The piece may come at once and bring the next question with it.
void Connection::ask_piece() {
    const AskPiece ask = ask_;
    ask([self = shared_from_this(), serial = serial_](AnswerPiece piece) {
        self->take_piece(serial, std::move(piece));
    });
}

bool Connection::is_asking_for(std::uint64_t serial) const {
    return !broken_ && serial == serial_ && ask_ && (in_work_ || awaits_piece_);
}

void Connection::take_piece(std::uint64_t serial, AnswerPiece piece) {
    if (!is_asking_for(serial)) return;
    if (piece.failed && awaits_piece_) return cut();
    const std::size_t bytes = piece.response.body.size() + head_bytes;
    if (!context_.answers->fits(held_answer_bytes_, answer_bytes() + bytes)) {
        return wait_for_memory(bytes);
    }
    kept_memory_ = 0;
    ask_ = std::move(piece.rest);
    if (in_work_) return answer(serial, std::move(piece.response));
    append_piece(piece.response.body, !ask_);
    count_answer();
    awaits_piece_ = false;
    wake();
}

void Connection::append_piece(std::string_view bytes, bool is_last) {
    if (!pieces_are_chunks_) {
        output_ += bytes;
        return;
    }
    append_chunk(output_, bytes);
    if (is_last) output_ += last_chunk;
}

// Nothing is read from the peer meanwhile: its bytes are the next request.
Task Connection::send_pieces() {
    while (ask_ && !broken_) {
        note_time();
        enter(Phase::handling, Instant::max());
        awaits_piece_ = true;
        ask_piece();
        while (awaits_piece_ && !broken_) co_await wake_->async_wait(as_values);
        if (broken_) break;
        if (!output_.empty() && !write_now()) co_await write_rest();
        if (!broken_) co_await asio::post(socket_->get_executor(), as_value);  // others first
    }
    note_time();
}

void Connection::wait_for_memory(std::size_t bytes) {
    kept_memory_ = 0;
    count_answer();
    if (!context_.answers->could_fit(bytes)) return give_up_memory();
    awaited_memory_ = bytes;
    note_time();
    memory_deadline_ = now_ + std::min(context_.limits.answer_wait, context_.limits.write_time);
    context_.answers->wait(*this);
    context_.evict_for_waiting();
}

bool Connection::has_memory() const {
    return context_.answers->fits(held_answer_bytes_, answer_bytes() + awaited_memory_);
}

bool Connection::go_on_with_memory() {
    if (!has_memory()) return false;
    kept_memory_ = awaited_memory_;
    stop_waiting_for_memory();
    count_answer();
    ask_piece();
    return true;
}

void Connection::stop_waiting_for_memory() {
    if (std::exchange(awaited_memory_, 0) > 0) context_.answers->leave(*this);
}

void Connection::give_up_memory() {
    stop_waiting_for_memory();
    context_.answers->note_refused();
    if (!in_work_) return cut();
    ask_ = nullptr;
    const Rejection& busy = no_answer_memory;
    Response response = problem(busy.status, busy.code, busy.detail, request_.request_id);
    response.headers.emplace_back("Retry-After", "1");
    answer(serial_, std::move(response));
}

std::size_t Connection::answer_bytes() const {
    return output_.size() + (response_ ? response_->body.size() + head_bytes : 0);
}

void Connection::count_answer() {
    context_.answers->count(held_answer_bytes_, answer_bytes() + kept_memory_);
}

// For an answer that is complete and cannot be made again.
void Connection::hold_answer() {
    const std::size_t bytes = answer_bytes() + kept_memory_;
    if (bytes <= AnswerMemory::own_share && held_answer_bytes_ == 0) return;
    if (!context_.answers->fits(held_answer_bytes_, bytes)) {
        context_.evict_for_answer(*this, bytes);
    }
    count_answer();
}

// The connection is over.
void Connection::drop_answer() {
    stop_waiting_for_memory();
    awaits_piece_ = false;
    kept_memory_ = 0;
    context_.answers->count(held_answer_bytes_, 0);
}

}  // namespace sluice::http
