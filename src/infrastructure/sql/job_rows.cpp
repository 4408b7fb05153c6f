#include "infrastructure/sql/job_rows.hpp"

#include <charconv>

namespace sluice {
namespace {

void append_number(std::string& out, std::int64_t number) {
    char digits[24];
    const auto end = std::to_chars(digits, digits + sizeof digits, number).ptr;
    out.append(digits, end);
}

// Removes the number at the front of `text`, and the one character after it, if any. Nothing when
// there is no number.
std::optional<std::int64_t> take_number(std::string_view& text) {
    std::int64_t number = 0;
    const char* last = text.data() + text.size();
    const auto [end, error] = std::from_chars(text.data(), last, number);
    if (error != std::errc{}) return std::nullopt;
    text.remove_prefix(static_cast<std::size_t>(end - text.data()));
    if (!text.empty()) text.remove_prefix(1);
    return number;
}

}  // namespace

std::string join_texts(const std::vector<std::string>& texts) {
    std::string joined;
    for (const std::string& text : texts) {
        append_number(joined, static_cast<std::int64_t>(text.size()));
        joined += ':';
        joined += text;
    }
    return joined;
}

bool split_texts(std::string_view joined, std::vector<std::string>& texts) {
    texts.clear();
    while (!joined.empty()) {
        const std::optional<std::int64_t> size = take_number(joined);
        if (!size || *size < 0 || static_cast<std::size_t>(*size) > joined.size()) {
            texts.clear();
            return false;
        }
        texts.emplace_back(joined.substr(0, static_cast<std::size_t>(*size)));
        joined.remove_prefix(static_cast<std::size_t>(*size));
    }
    return true;
}

std::string success_for(const std::string& tenant, const std::string& entity_type,
                        const std::string& entity_id) {
    return join_texts({tenant, entity_type, entity_id});
}

std::string join_ids(const std::vector<JobId>& ids) {
    std::string joined;
    for (const JobId id : ids) {
        if (!joined.empty()) joined += ',';
        append_number(joined, id.value);
    }
    return joined;
}

bool split_ids(std::string_view joined, std::vector<JobId>& ids) {
    ids.clear();
    while (!joined.empty()) {
        const std::optional<std::int64_t> id = take_number(joined);
        if (!id) {
            ids.clear();
            return false;
        }
        ids.push_back(JobId{*id});
    }
    return true;
}

std::string backoff_text(const Backoff& backoff) {
    std::string text;
    switch (backoff.kind) {
        case Backoff::Kind::none: break;
        case Backoff::Kind::list:
            text = 'l';
            for (const Duration delay : backoff.delays) {
                if (text.size() > 1) text += ',';
                append_number(text, delay.count());
            }
            break;
        case Backoff::Kind::exponential:
            text = 'e';
            append_number(text, backoff.base.count());
            text += ',';
            append_number(text, backoff.cap.count());
            break;
    }
    return text;
}

std::optional<Backoff> parse_backoff(std::string_view text) {
    Backoff backoff;
    if (text.empty()) return backoff;
    backoff.kind = text.front() == 'l' ? Backoff::Kind::list : Backoff::Kind::exponential;
    text.remove_prefix(1);
    if (backoff.kind == Backoff::Kind::list) {
        while (!text.empty()) {
            const std::optional<std::int64_t> delay = take_number(text);
            if (!delay) return std::nullopt;
            backoff.delays.emplace_back(*delay);
        }
        return backoff;
    }
    const std::optional<std::int64_t> base = take_number(text);
    const std::optional<std::int64_t> cap = take_number(text);
    if (!base || !cap) return std::nullopt;
    backoff.base = Duration{*base};
    backoff.cap = Duration{*cap};
    return backoff;
}

bool may_be_requeued(const Job& job, std::int64_t events) {
    return job.now.head.seq > events || job.now.run_after != job.spec->run_after;
}

std::optional<Timestamp> watched_deadline(const Job& job) {
    if (job.lease->stop_requested || is_final(job.now.state)) return std::nullopt;
    const Timestamp deadline = job.deadline();
    return deadline == never ? std::nullopt : std::optional(deadline);
}

}  // namespace sluice
