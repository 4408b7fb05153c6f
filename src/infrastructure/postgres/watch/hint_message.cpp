#include "infrastructure/postgres/watch/hint_message.hpp"

#include <charconv>

namespace sluice::postgres {
namespace {

constexpr std::size_t payload_bytes_max = 7900;
constexpr std::size_t entry_bytes_max = 40;  // " m-9223372036854775808:2147483647"

// "owner due", with "-" for never, and " r" when rules have changed; then " lane:count" for each
// lane, and " mmeter:count" for each meter.
std::string head_of(const HintMessage& message) {
    const std::string due = message.due == never ? "-" : std::to_string(to_micros(message.due));
    return std::to_string(message.owner) + ' ' + due + (message.rules_changed ? " r" : "");
}

// Reads the parts of a text that blanks separate, and remembers whether one could not be read.
class Scanner {
  public:
    explicit Scanner(std::string_view text) : rest_(text) {}

    bool at_end() const { return rest_.empty(); }
    bool are_right() const { return right_; }

    bool skip(char c) {
        if (!rest_.starts_with(c)) return false;
        rest_.remove_prefix(1);
        return true;
    }
    void expect(char c) { right_ = skip(c) && right_; }

    template <class Number>
    Number number() {
        Number value{};
        const auto read = std::from_chars(rest_.data(), rest_.data() + rest_.size(), value);
        right_ = right_ && read.ec == std::errc{};
        rest_.remove_prefix(static_cast<std::size_t>(read.ptr - rest_.data()));
        return value;
    }

  private:
    std::string_view rest_;
    bool right_ = true;
};

}  // namespace

std::vector<std::string> to_payloads(const HintMessage& message) {
    const std::string head = head_of(message);
    std::vector<std::string> payloads{head};
    const auto add = [&](const char* mark, std::int64_t name, int count) {
        if (payloads.back().size() + entry_bytes_max > payload_bytes_max) payloads.push_back(head);
        payloads.back() += mark + std::to_string(name) + ':' + std::to_string(count);
    };
    for (const auto& [lane, count] : message.readied) add(" ", lane, count);
    for (const auto& [meter, count] : message.returned) add(" m", meter, count);
    return payloads;
}

std::optional<HintMessage> parse_payload(std::string_view payload) {
    Scanner scanner(payload);
    HintMessage message{.owner = scanner.number<std::int64_t>()};
    scanner.expect(' ');
    if (!scanner.skip('-')) message.due = from_micros(scanner.number<std::int64_t>());
    while (scanner.are_right() && !scanner.at_end()) {
        scanner.expect(' ');
        if (scanner.skip('r')) {
            message.rules_changed = true;
            continue;
        }
        auto& counts = scanner.skip('m') ? message.returned : message.readied;
        const auto name = scanner.number<std::int64_t>();
        scanner.expect(':');
        counts[name] += scanner.number<int>();
    }
    return scanner.are_right() ? std::optional(message) : std::nullopt;
}

}  // namespace sluice::postgres
