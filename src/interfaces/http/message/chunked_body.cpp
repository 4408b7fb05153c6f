#include "interfaces/http/message/chunked_body.hpp"

#include <algorithm>
#include <cstring>

#include "domain/values/ascii.hpp"
#include "domain/values/hex.hpp"

namespace sluice::http {
namespace {

constexpr int size_digits_max = 8;

constexpr Rejection bad_chunk{400, "bad_chunk", "the chunked body is malformed"};
constexpr Rejection bad_chunk_end{400, "bad_chunk",
                                  "the chunked body is malformed: CR LF must follow each line and "
                                  "each chunk"};
constexpr Rejection long_chunk_line{400, "bad_chunk",
                                    "the chunked body is malformed: the line before a chunk is too "
                                    "long"};
constexpr Rejection trailers{400, "bad_chunk", "trailers after a chunked body are not accepted"};
constexpr Rejection too_many_chunks{400, "too_many_chunks",
                                    "the body has too many chunks; send larger ones"};

bool is_quotable(char c) {
    return c >= 0x20 && c < 0x7f;
}

}  // namespace

ChunkedBody::Outcome ChunkedBody::take(std::span<char> bytes) {
    char* front = bytes.data();
    for (std::size_t at = 0; at < bytes.size();) {
        if (state_ == State::data) {
            const std::size_t count = std::min(chunk_bytes_, bytes.size() - at);
            std::memmove(front, bytes.data() + at, count);
            front += count;
            at += count;
            body_bytes_ += count;
            chunk_bytes_ -= count;
            if (chunk_bytes_ == 0) state_ = State::data_end;
            continue;
        }
        if (const auto rejection = step(bytes[at++])) return *rejection;
        if (state_ == State::complete) return Complete{at};
    }
    return NeedMore{};
}

std::optional<Rejection> ChunkedBody::step(char c) {
    const auto expect = [&](char wanted, State next) -> std::optional<Rejection> {
        if (c != wanted) return bad_chunk_end;
        state_ = next;
        return std::nullopt;
    };
    switch (state_) {
        case State::line_feed: return c == '\n' ? start_chunk() : bad_chunk_end;
        case State::data_end: return expect('\r', State::data_line_feed);
        case State::data_line_feed: return expect('\n', State::size_start);
        case State::end:
            if (is_token_character(c)) return trailers;
            return expect('\r', State::end_line_feed);
        case State::end_line_feed: return expect('\n', State::complete);
        default: return step_in_line(c);
    }
}

std::optional<Rejection> ChunkedBody::step_in_line(char c) {
    if (state_ == State::size_start) line_bytes_ = 0, digits_ = 0, chunk_bytes_ = 0;
    if (c != '\r' && ++line_bytes_ > line_bytes_max) return long_chunk_line;
    const bool is_in_size = state_ == State::size_start || state_ == State::size;
    if (is_in_size ? read_size(c) : read_extension(c)) return std::nullopt;
    return c == '\n' ? bad_chunk_end : bad_chunk;
}

bool ChunkedBody::read_size(char c) {
    const int digit = hex_digit(c);
    if (digit < 0) return state_ == State::size && end_part(c);
    if (++digits_ > size_digits_max) return false;
    chunk_bytes_ = chunk_bytes_ * 16 + static_cast<std::size_t>(digit);
    state_ = State::size;
    return true;
}

bool ChunkedBody::read_extension(char c) {
    const auto go_on = [&](bool may, State next) {
        if (may) state_ = next;
        return may;
    };
    switch (state_) {
        case State::name_start: return go_on(is_token_character(c), State::name);
        case State::name:
            if (c == '=') return go_on(true, State::value_start);
            return is_token_character(c) || end_part(c);
        case State::value_start:
            return c == '"' ? go_on(true, State::quoted)
                            : go_on(is_token_character(c), State::value);
        case State::value: return is_token_character(c) || end_part(c);
        case State::quoted:
            if (c == '"') return go_on(true, State::quoted_end);
            return go_on(is_quotable(c), c == '\\' ? State::quoted_pair : State::quoted);
        case State::quoted_pair: return go_on(is_quotable(c), State::quoted);
        default: return end_part(c);
    }
}

// After a size or an extension: the next extension, or the end of the line.
bool ChunkedBody::end_part(char c) {
    if (c != ';' && c != '\r') return false;
    state_ = c == ';' ? State::name_start : State::line_feed;
    return true;
}

std::optional<Rejection> ChunkedBody::start_chunk() {
    if (chunk_bytes_ == 0) {
        state_ = State::end;
        return std::nullopt;
    }
    if (++chunks_ > chunks_max) return too_many_chunks;
    if (chunk_bytes_ > body_bytes_max_ - body_bytes_) return body_too_large;
    state_ = State::data;
    return std::nullopt;
}

}  // namespace sluice::http
