#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace sluice {

// A text whose escapes were read, and where in the source each of its bytes came from. The
// source must outlive it.
class DecodedText {
  public:
    enum class Plus { is_plus, is_space };

    // As JSON strings are read. A backslash that begins no escape stands for itself.
    static DecodedText from_json(std::string_view source);
    // As URLs and forms are read. A percent sign without two digits stands for itself.
    static DecodedText from_url(std::string_view source, Plus plus);

    const std::string& text() const { return text_; }
    // Where in the source the part of the text that begins or ends at `at` does so.
    std::size_t source_begin(std::size_t at) const { return places_[at]; }
    std::size_t source_end(std::size_t at) const;

  private:
    explicit DecodedText(std::string_view source);
    // What the escape at `place` means.
    void add(std::string_view bytes, std::size_t place);
    void add_source(std::size_t begin, std::size_t end);

    std::string_view source_;

    std::string text_{};
    std::vector<std::uint32_t> places_{};
};

}  // namespace sluice
