#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace sluice::cli {

enum class Style { plain, bold, dim, red, green, yellow, blue, cyan };

// The target of one of the standard streams, and the output that it can show.
struct Screen {
    int descriptor = 1;
    bool is_terminal = false;
    bool has_colours = false;
    bool can_redraw = false;  // a line may be written over
    bool has_symbols = true;  // characters beyond ASCII can be shown
    std::size_t width = 0;    // columns; 0: no limit

    std::string painted(Style style, std::string_view text) const;
    const char* symbol(const char* symbol, const char* plain) const {
        return has_symbols ? symbol : plain;
    }
};

// Looks at the descriptor and at NO_COLOR, TERM, COLUMNS and the locale.
Screen screen_on(int descriptor, bool no_colour);

// Writes all of it. Bytes that standard error does not take are lost; for any other stream it
// throws.
void write_to(const Screen& screen, std::string_view text);

}  // namespace sluice::cli
