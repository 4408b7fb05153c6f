#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

namespace sluice::client {

struct SseEvent {
    std::string id{};    // of this event, or the last id before it
    std::string type{};  // "message" when there is none
    std::string data{};
};

// Reads Server-Sent Events out of bytes that come in pieces of any size, by the rules of the HTML
// standard. Comments keep a connection alive and are dropped.
class SseReader {
  public:
    static constexpr std::size_t event_bytes_max = 4 * 1024 * 1024;

    // Calls `on_event` with each event that these bytes complete. False: it returned false, and the
    // rest is dropped. Throws Error (unreachable) when an event is over the limit.
    bool feed(std::string_view bytes, const std::function<bool(const SseEvent&)>& on_event);

    // How long the server asks to wait before a reconnect.
    std::optional<std::int64_t> retry_ms() const { return retry_ms_; }

  private:
    bool take_line(const std::function<bool(const SseEvent&)>& on_event);
    void take_field(std::string_view name, std::string_view value);

    std::string line_;  // so far
    SseEvent event_;
    bool has_data_ = false;
    bool after_cr_ = false;  // a line feed that follows belongs to the line end before it
    bool is_first_line_ = true;
    std::optional<std::int64_t> retry_ms_;
};

}  // namespace sluice::client
