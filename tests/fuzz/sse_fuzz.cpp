// Streams of events, from both ends: the events that clients read from the bytes, and the position
// from which a client wants to go on. Beyond not breaking: events do not depend on the pieces in
// which they come, and an accepted number is the one in the text.
#include <string>
#include <vector>

#include "client/link/sse.hpp"
#include "input.hpp"
#include "interfaces/http/requests/fields.hpp"
#include "interfaces/http/requests/pages.hpp"

namespace sluice {
namespace {

using fuzz::expect;

struct Heard {
    std::vector<std::string> events{};
    std::optional<std::int64_t> retry_ms{};
    bool operator==(const Heard&) const = default;
};

Heard hear(std::string_view bytes, std::size_t piece) {
    Heard heard;
    client::SseReader reader;
    for (std::size_t at = 0; at < bytes.size(); at += piece) {
        reader.feed(bytes.substr(at, piece), [&](const client::SseEvent& event) {
            heard.events.push_back(event.id + "\n" + event.type + "\n" + event.data);
            return true;
        });
    }
    heard.retry_ms = reader.retry_ms();
    return heard;
}

void read_stream(std::string_view bytes) {
    const Heard whole = hear(bytes, bytes.size() + 1);
    expect(hear(bytes, 1) == whole, "events do not depend on pieces of one byte");
    expect(hear(bytes, 7) == whole, "nor on pieces of seven");
    for (const std::string& event : whole.events) {
        expect(event.find('\r') == event.npos, "a line end is no part of an event");
    }
}

// Leading zeros are the only other form that a number may have.
std::string_view without_zeros(std::string_view digits) {
    while (digits.size() > 1 && digits.front() == '0') digits.remove_prefix(1);
    return digits;
}

void read_resume(std::string_view text) {
    http::Request request;
    request.headers.push_back({"Last-Event-ID", text});
    const auto last = http::last_event_id(request);
    if (last) {
        expect(last->has_value() && **last >= 0, "a place in a stream is not negative");
        expect(std::to_string(**last) == without_zeros(text), "it is the number that stands there");
    }
    const auto params = http::QueryParams::parse(text);
    if (!params) return;
    const auto page = http::read_page(*params);
    if (page)
        expect(page->after >= 0 && page->limit >= 1 && page->limit <= 1000, "pages are sound");
}

}  // namespace
}  // namespace sluice

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    std::string_view input = sluice::fuzz::text_of(data, size);
    if (sluice::fuzz::take_choice(input, 2) == 0) {
        sluice::read_stream(input);
    } else {
        sluice::read_resume(input);
    }
    return 0;
}
