#include "interfaces/worker/executors/line_splitter.hpp"

#include <algorithm>

namespace sluice::worker {
namespace {

// The part of the line that a terminal would show in the end.
std::string_view last_version(std::string_view line) {
    while (!line.empty() && line.back() == '\r') line.remove_suffix(1);
    const std::size_t start = line.rfind('\r');
    return start == std::string_view::npos ? line : line.substr(start + 1);
}

// The longest beginning within the limit that does not end inside a UTF-8 character.
std::size_t piece_length(std::string_view text) {
    std::size_t length = std::min(text.size(), LineSplitter::piece_bytes_max);
    if (length == text.size()) return length;
    const auto continues = [&](std::size_t at) {
        return (static_cast<unsigned char>(text[at]) & 0xC0) == 0x80;
    };
    for (std::size_t back = 0; back < 3 && length > 1 && continues(length); ++back) --length;
    return length;
}

}  // namespace

void LineSplitter::add(std::string_view bytes) {
    for (;;) {
        const std::size_t end = bytes.find('\n');
        if (end == std::string_view::npos) break;
        end_line(bytes.substr(0, end));
        bytes.remove_prefix(end + 1);
    }
    pending_.append(bytes);
    if (pending_.size() <= piece_bytes_max) return;
    // A carriage return at the very end may be the first half of a line's end.
    const std::size_t written_over = pending_.rfind('\r', pending_.size() - 2);
    if (written_over != std::string::npos) pending_.erase(0, written_over + 1);
    std::string_view left = pending_;
    while (left.size() > piece_bytes_max) {
        const std::size_t length = piece_length(left);
        on_piece_(left.substr(0, length), true);
        is_cut_ = true;
        left.remove_prefix(length);
    }
    pending_.erase(0, pending_.size() - left.size());
}

void LineSplitter::end_line(std::string_view rest) {
    if (pending_.empty()) {
        hand_on(rest);
    } else {
        pending_.append(rest);
        hand_on(pending_);
        pending_.clear();
    }
    is_cut_ = false;
}

void LineSplitter::hand_on(std::string_view line) {
    line = last_version(line);
    while (line.size() > piece_bytes_max) {
        const std::size_t length = piece_length(line);
        on_piece_(line.substr(0, length), true);
        line.remove_prefix(length);
    }
    on_piece_(line, false);
}

void LineSplitter::finish() {
    if (!pending_.empty() || is_cut_) end_line({});
}

}  // namespace sluice::worker
