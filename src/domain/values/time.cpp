#include "domain/values/time.hpp"

#include <algorithm>

namespace sluice {
namespace {

void put_padded(char* to, unsigned value, int digits) {
    for (int i = digits - 1; i >= 0; --i, value /= 10) to[i] = static_cast<char>('0' + value % 10);
}

// Reads fixed-width decimal fields from the front of a text.
class Fields {
  public:
    explicit Fields(std::string_view text) : rest_(text) {}

    std::optional<int> number(std::size_t digits) {
        if (rest_.size() < digits) return std::nullopt;
        int value = 0;
        for (const char c : rest_.substr(0, digits)) {
            if (c < '0' || c > '9') return std::nullopt;
            value = value * 10 + (c - '0');
        }
        rest_.remove_prefix(digits);
        return value;
    }

    bool skip(std::string_view any_of) {
        if (rest_.empty() || any_of.find(rest_.front()) == std::string_view::npos) return false;
        rest_.remove_prefix(1);
        return true;
    }

    char front() const { return rest_.empty() ? '\0' : rest_.front(); }
    bool empty() const { return rest_.empty(); }

  private:
    std::string_view rest_;
};

std::optional<Duration> read_fraction(Fields& fields) {
    std::int64_t micros = 0;
    int digits = 0;
    while (const auto digit = fields.number(1)) {
        if (++digits > 9) return std::nullopt;
        if (digits <= 6) micros = micros * 10 + *digit;
    }
    if (digits == 0) return std::nullopt;
    for (; digits < 6; ++digits) micros *= 10;
    return Duration{micros};
}

std::optional<std::chrono::minutes> read_offset(Fields& fields) {
    if (fields.skip("Zz")) return std::chrono::minutes(0);
    const bool east = fields.front() == '+';
    if (!fields.skip("+-")) return std::nullopt;
    const auto hours = fields.number(2);
    if (!hours || *hours > 23 || !fields.skip(":")) return std::nullopt;
    const auto minutes = fields.number(2);
    if (!minutes || *minutes > 59) return std::nullopt;
    const std::chrono::minutes offset(*hours * 60 + *minutes);
    return east ? offset : -offset;
}

}  // namespace

void append_rfc3339(std::string& out, Timestamp time) {
    using namespace std::chrono;
    constexpr Timestamp first = sys_days{year{0} / 1 / 1};
    constexpr Timestamp last = sys_days{year{9999} / 12 / 31} + days{1} - milliseconds{1};
    time = std::clamp(time, first, last);

    const auto day = floor<days>(time);
    const year_month_day date(day);
    const auto clock = duration_cast<milliseconds>(time - day).count();
    char text[] = "0000-00-00T00:00:00.000Z";
    put_padded(text, static_cast<unsigned>(static_cast<int>(date.year())), 4);
    put_padded(text + 5, static_cast<unsigned>(date.month()), 2);
    put_padded(text + 8, static_cast<unsigned>(date.day()), 2);
    put_padded(text + 11, static_cast<unsigned>(clock / 3'600'000), 2);
    put_padded(text + 14, static_cast<unsigned>(clock / 60'000 % 60), 2);
    put_padded(text + 17, static_cast<unsigned>(clock / 1000 % 60), 2);
    put_padded(text + 20, static_cast<unsigned>(clock % 1000), 3);
    out.append(text, sizeof text - 1);
}

std::string to_rfc3339(Timestamp time) {
    std::string text;
    text.reserve(24);
    append_rfc3339(text, time);
    return text;
}

std::optional<Timestamp> parse_rfc3339(std::string_view text) {
    using namespace std::chrono;
    Fields fields(text);
    const auto y = fields.number(4);
    if (!y || !fields.skip("-")) return std::nullopt;
    const auto m = fields.number(2);
    if (!m || !fields.skip("-")) return std::nullopt;
    const auto d = fields.number(2);
    if (!d || !fields.skip("Tt ")) return std::nullopt;
    const auto hour = fields.number(2);
    if (!hour || *hour > 23 || !fields.skip(":")) return std::nullopt;
    const auto minute = fields.number(2);
    if (!minute || *minute > 59 || !fields.skip(":")) return std::nullopt;
    const auto second = fields.number(2);
    if (!second || *second > 60) return std::nullopt;

    Duration fraction{0};
    if (fields.skip(".")) {
        const auto read = read_fraction(fields);
        if (!read) return std::nullopt;
        fraction = *read;
    }
    const auto offset = read_offset(fields);
    if (!offset || !fields.empty()) return std::nullopt;

    const year_month_day date(year{*y}, month{static_cast<unsigned>(*m)},
                              day{static_cast<unsigned>(*d)});
    if (!date.ok()) return std::nullopt;
    return Timestamp{sys_days{date}} + hours(*hour) + minutes(*minute) + seconds(*second) +
           fraction - *offset;
}

}  // namespace sluice
