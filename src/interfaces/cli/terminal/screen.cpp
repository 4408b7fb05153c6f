#include "interfaces/cli/terminal/screen.hpp"

#include <sys/ioctl.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <system_error>

#include "domain/values/duration_text.hpp"

namespace sluice::cli {
namespace {

std::string_view variable(const char* name) {
    const char* value = std::getenv(name);
    return value ? std::string_view(value) : std::string_view();
}

std::size_t width_of(int descriptor) {
    if (const auto columns = parse_integer(variable("COLUMNS")); columns && *columns > 0) {
        return static_cast<std::size_t>(*columns);
    }
    winsize size{};
    if (ioctl(descriptor, TIOCGWINSZ, &size) == 0 && size.ws_col > 0) return size.ws_col;
    return 80;
}

// Without any locale in the environment, as in many containers, terminals still take UTF-8.
bool takes_utf8() {
    for (const char* name : {"LC_ALL", "LC_CTYPE", "LANG"}) {
        const std::string_view locale = variable(name);
        if (locale.empty()) continue;
        return locale.find("UTF-8") != locale.npos || locale.find("utf8") != locale.npos ||
               locale.find("utf-8") != locale.npos || locale.find("UTF8") != locale.npos;
    }
    return true;
}

const char* code_of(Style style) {
    switch (style) {
        case Style::plain: return "";
        case Style::bold: return "\x1b[1m";
        case Style::dim: return "\x1b[2m";
        case Style::red: return "\x1b[31m";
        case Style::green: return "\x1b[32m";
        case Style::yellow: return "\x1b[33m";
        case Style::blue: return "\x1b[34m";
        case Style::cyan: return "\x1b[36m";
    }
    return "";
}

}  // namespace

std::string Screen::painted(Style style, std::string_view text) const {
    if (!has_colours || style == Style::plain || text.empty()) return std::string(text);
    std::string out = code_of(style);
    out += text;
    out += "\x1b[0m";
    return out;
}

Screen screen_on(int descriptor, bool no_colour) {
    Screen screen;
    screen.descriptor = descriptor;
    screen.has_symbols = takes_utf8();
    screen.is_terminal = isatty(descriptor) == 1;
    if (!screen.is_terminal) return screen;
    screen.width = width_of(descriptor);
    screen.can_redraw = variable("TERM") != "dumb";
    screen.has_colours = screen.can_redraw && !no_colour && variable("NO_COLOR").empty();
    return screen;
}

void write_to(const Screen& screen, std::string_view text) {
    while (!text.empty()) {
        const ssize_t count = write(screen.descriptor, text.data(), text.size());
        if (count < 0 && errno == EINTR) continue;
        if (count < 0 && screen.descriptor == STDERR_FILENO) return;
        if (count < 0) throw std::system_error(errno, std::generic_category(), "cannot write");
        text.remove_prefix(static_cast<std::size_t>(count));
    }
}

}  // namespace sluice::cli
