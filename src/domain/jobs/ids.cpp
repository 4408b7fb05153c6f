#include "domain/jobs/ids.hpp"

#include <algorithm>

namespace sluice {
namespace {

constexpr int sequence_bits = 12;
constexpr int node_bits = 10;
constexpr int tick_shift = sequence_bits + node_bits;
constexpr std::int64_t sequence_mask = (std::int64_t{1} << sequence_bits) - 1;
constexpr std::int64_t node_mask = (std::int64_t{1} << node_bits) - 1;
constexpr std::int64_t epoch_millis = 1577836800000;  // 2020-01-01T00:00:00Z
constexpr std::int64_t millis_max = (std::int64_t{1} << 41) - 1;

void append_hex(std::string& out, std::uint64_t value, int digits) {
    constexpr char digit[] = "0123456789abcdef";
    char text[16];
    for (int i = digits - 1; i >= 0; --i, value >>= 4) text[i] = digit[value & 0xF];
    out.append(text, static_cast<std::size_t>(digits));
}

std::optional<std::uint64_t> read_hex(std::string_view text) {
    std::uint64_t value = 0;
    for (const char c : text) {
        value <<= 4;
        if (c >= '0' && c <= '9') {
            value |= static_cast<std::uint64_t>(c - '0');
        } else if (c >= 'a' && c <= 'f') {
            value |= static_cast<std::uint64_t>(c - 'a' + 10);
        } else {
            return std::nullopt;
        }
    }
    return value;
}

// The parts of an id's digits, whether or not there can be such an id.
struct Parts {
    std::int64_t seconds = 0;
    std::int64_t millis = 0;
    std::int64_t node = 0;
    std::int64_t sequence = 0;

    std::int64_t since_epoch() const { return seconds * 1000 + millis - epoch_millis; }
    bool is_id() const {
        return millis <= 999 && node <= node_mask && sequence <= sequence_mask &&
               since_epoch() >= 0 && since_epoch() <= millis_max;
    }
    JobId id() const {
        return {(since_epoch() << tick_shift) | (node << sequence_bits) | sequence};
    }

    // For digits that are no id: the greatest id whose text sorts before them, or -1 when there is
    // none.
    JobId last_id_before() const {
        Parts parts = *this;
        if (parts.millis > 999) {
            parts = {parts.seconds, 999, node_mask, sequence_mask};
        } else if (parts.node > node_mask) {
            parts = {parts.seconds, parts.millis, node_mask, sequence_mask};
        } else if (parts.sequence > sequence_mask) {
            parts.sequence = sequence_mask;
        }
        if (parts.since_epoch() < 0) return {-1};
        if (parts.since_epoch() > millis_max) return {INT64_MAX};
        return parts.id();
    }
};

std::optional<Parts> read_parts(std::string_view text) {
    if (text.size() != 24) return std::nullopt;
    const auto head = read_hex(text.substr(0, 16));
    const auto tail = read_hex(text.substr(16));
    if (!head || !tail) return std::nullopt;
    return Parts{static_cast<std::int64_t>(*head >> 32),
                 static_cast<std::int64_t>((*head >> 16) & 0xFFFF),
                 static_cast<std::int64_t>(*head & 0xFFFF), static_cast<std::int64_t>(*tail)};
}

}  // namespace

// Layout: 8 digits of seconds, 4 of milliseconds, 4 of node, 8 of sequence.
void append_text(std::string& out, JobId id) {
    const std::int64_t millis = (id.value >> tick_shift) + epoch_millis;
    append_hex(out, static_cast<std::uint64_t>(millis / 1000), 8);
    append_hex(out, static_cast<std::uint64_t>(millis % 1000), 4);
    append_hex(out, static_cast<std::uint64_t>((id.value >> sequence_bits) & node_mask), 4);
    append_hex(out, static_cast<std::uint64_t>(id.value & sequence_mask), 8);
}

std::string to_text(JobId id) {
    std::string text;
    text.reserve(24);
    append_text(text, id);
    return text;
}

std::optional<JobId> parse_job_id(std::string_view text) {
    const auto parts = read_parts(text);
    if (!parts || !parts->is_id()) return std::nullopt;
    return parts->id();
}

std::optional<JobIdRange> ids_with_prefix(std::string_view prefix) {
    if (prefix.empty() || prefix.size() > 24) return std::nullopt;
    const std::size_t open = 24 - prefix.size();
    const auto low = read_parts(std::string(prefix) + std::string(open, '0'));
    const auto high = read_parts(std::string(prefix) + std::string(open, 'f'));
    if (!low || !high) return std::nullopt;
    if (!low->is_id() && low->last_id_before() == JobId{INT64_MAX}) return std::nullopt;
    const JobId first = low->is_id() ? low->id() : JobId{low->last_id_before().value + 1};
    const JobId last = high->is_id() ? high->id() : high->last_id_before();
    if (first > last) return std::nullopt;
    return JobIdRange{first, last};
}

void append_text(std::string& out, LeaseId id) {
    append_text(out, id.job);
    out += '-';
    append_hex(out, static_cast<std::uint64_t>(id.token.value), 16);
}

std::string to_text(LeaseId id) {
    std::string text;
    text.reserve(41);
    append_text(text, id);
    return text;
}

std::optional<LeaseId> parse_lease_id(std::string_view text) {
    if (text.size() != 41 || text[24] != '-') return std::nullopt;
    const auto job = parse_job_id(text.substr(0, 24));
    const auto token = read_hex(text.substr(25));
    if (!job || !token || *token > static_cast<std::uint64_t>(INT64_MAX)) return std::nullopt;
    return LeaseId{*job, LeaseToken{static_cast<std::int64_t>(*token)}};
}

IdSource::IdSource(int node) : node_bits_((node & node_mask) << sequence_bits) {}

JobId first_id_at(Timestamp time) {
    const std::int64_t millis = to_micros(time) / 1000 - epoch_millis;
    return {std::clamp<std::int64_t>(millis, 0, millis_max) << tick_shift};
}

std::int64_t IdSource::next(Timestamp now) {
    const std::int64_t millis = std::max<std::int64_t>(to_micros(now) / 1000 - epoch_millis, 0);
    last_tick_ = std::max(last_tick_ + 1, millis << sequence_bits);
    return ((last_tick_ >> sequence_bits) << tick_shift) | node_bits_ |
           (last_tick_ & sequence_mask);
}

void IdSource::skip_to(std::int64_t used) {
    // To the end of that millisecond: within it, numbers of another node may be above all of this
    // one's.
    last_tick_ = std::max(last_tick_, ((used >> tick_shift) << sequence_bits) | sequence_mask);
}

}  // namespace sluice
