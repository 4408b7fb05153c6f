#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <variant>

#include "interfaces/http/message/framing_gate.hpp"

namespace sluice::http {

// Takes the chunks off a request body (RFC 9112, 7.1) while it arrives. Each byte is looked at
// once, so that the pieces in which it comes play no part. Where the grammar leaves a choice that
// readers have made differently, the body is refused: sizes are 1 to 8 hex digits with nothing
// around them, lines end with CR LF, extensions are well-formed and are dropped, and there are no
// trailers.
class ChunkedBody {
  public:
    static constexpr std::size_t line_bytes_max = 128;  // size and extensions of one chunk
    static constexpr std::size_t chunks_max = 65'536;

    struct NeedMore {};
    struct Complete {
        std::size_t used = 0;  // of the bytes given; those that follow are the next request
    };
    using Outcome = std::variant<NeedMore, Complete, Rejection>;

    explicit ChunkedBody(std::size_t body_bytes_max = 0) : body_bytes_max_(body_bytes_max) {}

    // Takes the bytes that have come since the last call. What they hold of the body is moved to
    // their front; body_bytes() grows by its size. Not to be called again after Complete.
    Outcome take(std::span<char> bytes);

    std::size_t body_bytes() const { return body_bytes_; }

  private:
    // The state says what the next byte must be. The states of a line's extensions follow its size.
    enum class State : std::uint8_t {
        size_start,
        size,
        name_start,
        name,
        value_start,
        value,
        quoted,
        quoted_pair,
        quoted_end,
        line_feed,
        data,
        data_end,
        data_line_feed,
        end,
        end_line_feed,
        complete
    };

    std::optional<Rejection> step(char c);
    std::optional<Rejection> step_in_line(char c);
    std::optional<Rejection> start_chunk();
    bool read_size(char c);
    bool read_extension(char c);
    bool end_part(char c);

    std::size_t body_bytes_max_;
    std::size_t body_bytes_ = 0;
    std::size_t chunks_ = 0;
    std::size_t chunk_bytes_ = 0;  // those of the current chunk that have not come yet
    std::size_t line_bytes_ = 0;
    int digits_ = 0;
    State state_ = State::size_start;
};

}  // namespace sluice::http
