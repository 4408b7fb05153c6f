#pragma once

#include <cstddef>
#include <cstring>
#include <span>
#include <string_view>
#include <vector>

namespace sluice::http {

// The bytes that have been received and not yet been used. Views into it hold until prepare().
class InputBuffer {
  public:
    static constexpr std::size_t initial_bytes = 8 * 1024;

    std::string_view readable() const { return {bytes_.data() + begin_, end_ - begin_}; }
    bool empty() const { return begin_ == end_; }

    // The readable bytes from this one on, to be worked on where they are.
    std::span<char> from(std::size_t offset) {
        return std::span(bytes_).subspan(begin_ + offset, end_ - begin_ - offset);
    }

    // Forgets all readable bytes after the first `count`.
    void keep(std::size_t count) { end_ = begin_ + count; }

    // Space for the next bytes. It is never all that a peer announced: memory is given for received
    // bytes, not for announced ones.
    std::span<char> prepare() {
        if (begin_ > 0) {
            std::memmove(bytes_.data(), bytes_.data() + begin_, end_ - begin_);
            end_ -= begin_;
            begin_ = 0;
        }
        if (bytes_.size() - end_ < space_bytes_min) {
            bytes_.resize(bytes_.empty() ? initial_bytes : bytes_.size() * 2);
        }
        return {bytes_.data() + end_, bytes_.size() - end_};
    }

    void commit(std::size_t count) { end_ += count; }

    void consume(std::size_t count) {
        begin_ += count;
        if (begin_ != end_) return;
        begin_ = end_ = 0;
        if (bytes_.size() > kept_bytes_max) bytes_ = std::vector<char>();
    }

  private:
    static constexpr std::size_t space_bytes_min = 4 * 1024;
    static constexpr std::size_t kept_bytes_max = 32 * 1024;

    std::vector<char> bytes_;
    std::size_t begin_ = 0;
    std::size_t end_ = 0;
};

}  // namespace sluice::http
