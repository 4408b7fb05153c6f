#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "domain/jobs/job.hpp"

namespace sluice {

// One step of a job. A job's events form a chain: each hash covers the event and the hash before
// it, and the first one covers the job's spec, so that nothing can be changed, left out or swapped
// without the chain breaking at that event.
struct Event {
    JobId job;
    std::int64_t seq = 0;  // 1, 2, 3… without gaps
    Step step = Step::submitted;
    std::optional<JobState> from;  // none for `submitted` and for steps that change no state
    std::optional<JobState> to;
    int attempt = 0;
    std::optional<LeaseToken> lease;
    std::string actor;
    Timestamp at{};
    std::int64_t log_seq = 0;  // how many log lines the job had: orders the event among them
    std::string detail;        // a JSON object, or empty
    Digest hash{};
    bool damaged = false;  // the stored row is not as it was written

    bool operator==(const Event&) const = default;

    // Its position in the one sequence that events and log lines share: 1, 2, 3… without gaps.
    std::int64_t position() const { return seq + log_seq; }
};

enum class LogLevel { info, warn, error };

std::string_view to_text(LogLevel level);
std::optional<LogLevel> parse_log_level(std::string_view text);

// One line that a worker wrote about its attempt.
struct LogLine {
    JobId job;
    std::int64_t seq = 0;  // 1, 2, 3… without gaps, over all attempts
    int attempt = 0;
    LogLevel level = LogLevel::info;
    std::string message;
    std::string data;  // JSON, or empty
    Timestamp at{};
    std::int64_t event_seq = 0;  // how many events the job had: orders the line among them
    bool damaged = false;        // the stored row is not as it was written

    bool operator==(const LogLine&) const = default;

    std::int64_t position() const { return seq + event_seq; }
};

// The value that the first event of a job is chained to, in the form that the spec names; all
// zeros, to which no event is chained, where this version does not know the form.
Digest genesis(const JobSpec& spec);

// The data that an event's hash covers beside the event.
struct EventCover {
    std::string_view result{};    // used by the event that ends the job only
    const Digest* log = nullptr;  // over the lines before the event; none: not covered
};
// Lines are covered since form 2.
EventCover cover_of(const JobSpec& spec, std::string_view result, const std::optional<Digest>& log);

// The hash of `event` after an event whose hash is `previous`.
Digest chain_hash(const Digest& previous, const Event& event, const EventCover& cover = {});

// The digest of a job's log lines up to `line`, after that of the lines before it:
// Standing::log_hash.
Digest log_hash(const Digest& previous, const LogLine& line);

// Makes the next event of `job`, with its number and hash, and moves the job's head to it. Call it
// after the step was applied; `from` is the state before.
struct EventParts {
    Step step = Step::submitted;
    std::optional<JobState> from;
    std::optional<LeaseToken> lease;
    std::string actor;
    Timestamp at{};
    std::string detail;
};
Event record(Job& job, EventParts parts);

// Makes the next log line of `job`, with its number, and adds it to the job's digest of lines.
struct LineParts {
    LogLevel level = LogLevel::info;
    std::string message{};
    std::string data{};
    Timestamp at{};
};
LogLine next_line(Job& job, LineParts parts);

}  // namespace sluice
