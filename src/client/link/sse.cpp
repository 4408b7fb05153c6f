#include "client/link/sse.hpp"

#include <algorithm>
#include <charconv>

#include "domain/values/ascii.hpp"
#include "sluice/error.hpp"

namespace sluice::client {

bool SseReader::feed(std::string_view bytes, const std::function<bool(const SseEvent&)>& on_event) {
    while (!bytes.empty()) {
        if (after_cr_ && bytes.front() == '\n') bytes.remove_prefix(1);
        after_cr_ = false;
        const std::size_t end = bytes.find_first_of("\r\n");
        line_.append(bytes.substr(0, end));
        if (line_.size() + event_.data.size() > event_bytes_max) {
            throw Error(ErrorKind::unreachable, 0, "too_large",
                        "the stream has an event of more than 4 MiB");
        }
        if (end == std::string_view::npos) return true;
        after_cr_ = bytes[end] == '\r';
        bytes.remove_prefix(end + 1);
        if (!take_line(on_event)) return false;
    }
    return true;
}

bool SseReader::take_line(const std::function<bool(const SseEvent&)>& on_event) {
    std::string_view line = line_;
    constexpr std::string_view byte_order_mark = "\xEF\xBB\xBF";
    if (is_first_line_ && line.starts_with(byte_order_mark)) line.remove_prefix(3);
    is_first_line_ = false;
    bool goes_on = true;
    if (line.empty()) {
        if (event_.type.empty()) event_.type = "message";
        if (has_data_) goes_on = on_event(event_);
        event_.type.clear();
        event_.data.clear();
        has_data_ = false;
    } else if (const std::size_t colon = line.find(':'); colon == std::string_view::npos) {
        take_field(line, {});
    } else {
        std::string_view value = line.substr(colon + 1);
        if (value.starts_with(' ')) value.remove_prefix(1);
        take_field(line.substr(0, colon), value);
    }
    line_.clear();
    return goes_on;
}

void SseReader::take_field(std::string_view name, std::string_view value) {
    if (name == "data") {
        if (has_data_) event_.data += '\n';
        event_.data += value;
        has_data_ = true;
    } else if (name == "event") {
        event_.type = value;
    } else if (name == "id") {
        if (value.find('\0') == std::string_view::npos) event_.id = value;
    } else if (name == "retry") {
        std::int64_t millis = 0;
        if (value.empty() || !std::all_of(value.begin(), value.end(), is_digit)) return;
        const auto read = std::from_chars(value.data(), value.data() + value.size(), millis);
        if (read.ec == std::errc{}) retry_ms_ = millis;
    }
}

}  // namespace sluice::client
