#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <string_view>

namespace sluice::worker {

// Splits a command's output into lines, as it comes.
//
// A line ends at a line feed. Of a line that a command wrote over with carriage returns, the last
// version counts, as on a terminal. A line that grows over the limit is passed on in pieces, which
// split no UTF-8 character. The last line needs no end.
class LineSplitter {
  public:
    static constexpr std::size_t piece_bytes_max = 16 * 1024;

    // The text is valid during the call; `continues`: the line is not over.
    using OnPiece = std::function<void(std::string_view text, bool continues)>;

    explicit LineSplitter(OnPiece on_piece) : on_piece_(std::move(on_piece)) {}

    void add(std::string_view bytes);
    void finish();

  private:
    void end_line(std::string_view rest);
    void hand_on(std::string_view line);

    OnPiece on_piece_;
    std::string pending_{};  // the line so far, without the pieces passed on
    bool is_cut_ = false;    // a piece of it was passed on
};

}  // namespace sluice::worker
