#include "interfaces/cli/framework/sheet.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "interfaces/cli/terminal/display_text.hpp"
#include "interfaces/cli/terminal/json_object.hpp"

namespace sluice::cli {

void Sheet::line(std::string_view name, const std::string& value) {
    if (value.empty()) return;
    out_ += "  " + screen_.painted(Style::dim, padded(name, 13)) + value + "\n";
}

void Sheet::time(std::string_view name, const std::optional<client::Time>& at,
                 const std::string& remark) {
    if (!at) return;
    const Duration age = now() - *at;
    const std::string relative =
        age < Duration::zero() ? "in " + short_duration(-age) : short_duration(age) + " ago";
    line(name, fmt::format("{}  ({}{})", absolute_time(*at), relative, remark));
}

void Sheet::json(std::string_view name, const std::string& text) {
    if (text.empty() || text == "null") return;
    const std::string short_text = printable(on_one_line(text));
    if (short_text.size() <= 60) return line(name, short_text);
    line(name, " ");
    const std::string lines = indented_json(text);
    for (std::size_t begin = 0; begin < lines.size();) {
        const std::size_t end = std::min(lines.find('\n', begin), lines.size());
        out_ += "    " + printable(std::string_view(lines).substr(begin, end - begin)) + "\n";
        begin = end + 1;
    }
}

}  // namespace sluice::cli
