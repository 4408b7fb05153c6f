#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace sluice {

// A text whose escapes were decoded, and the position in the source of each of its bytes. The
// source must outlive it.
class DecodedText {
  public:
    enum class Plus { is_plus, is_space };

    // As JSON strings are read. A backslash that begins no escape stands for itself.
    static DecodedText from_json(std::string_view source);
    // As URLs and forms are read. A percent sign without two digits stands for itself.
    static DecodedText from_url(std::string_view source, Plus plus);

    const std::string& text() const { return text_; }
    // The position in the source of the beginning or end of the part of the text at `at`.
    std::size_t source_begin(std::size_t at) const { return positions_[at]; }
    std::size_t source_end(std::size_t at) const;

  private:
    explicit DecodedText(std::string_view source);
    // Adds the bytes that the escape at `position` stands for.
    void add(std::string_view bytes, std::size_t position);
    void add_source(std::size_t begin, std::size_t end);

    std::string_view source_;

    std::string text_{};
    std::vector<std::uint32_t> positions_{};
};

}  // namespace sluice
