#include "interfaces/http/utf8.hpp"

namespace sluice::http {
namespace {

unsigned char byte_at(std::string_view text, std::size_t index) {
    return static_cast<unsigned char>(text[index]);
}

// The second byte carries the limits against overlong forms, surrogates, and too large values.
bool second_byte_fits(unsigned char first, unsigned char second) {
    switch (first) {
        case 0xe0:
            return second >= 0xa0 && second <= 0xbf;
        case 0xed:
            return second >= 0x80 && second <= 0x9f;
        case 0xf0:
            return second >= 0x90 && second <= 0xbf;
        case 0xf4:
            return second >= 0x80 && second <= 0x8f;
        default:
            return second >= 0x80 && second <= 0xbf;
    }
}

}  // namespace

std::size_t utf8_character_bytes(std::string_view text) {
    if (text.empty()) return 0;
    const unsigned char first = byte_at(text, 0);
    if (first < 0x80) return 1;

    std::size_t length = 0;
    if (first >= 0xc2 && first <= 0xdf) length = 2;
    if (first >= 0xe0 && first <= 0xef) length = 3;
    if (first >= 0xf0 && first <= 0xf4) length = 4;
    if (length == 0 || text.size() < length) return 0;
    if (!second_byte_fits(first, byte_at(text, 1))) return 0;
    for (std::size_t i = 2; i < length; ++i) {
        if ((byte_at(text, i) & 0xc0) != 0x80) return 0;
    }
    return length;
}

bool is_utf8(std::string_view text) {
    while (!text.empty()) {
        const std::size_t length = utf8_character_bytes(text);
        if (length == 0) return false;
        text.remove_prefix(length);
    }
    return true;
}

}  // namespace sluice::http
