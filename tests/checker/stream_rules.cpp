// Streams: events and log lines of a job on one sequence of ids, without gap or repeat.
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>

#include "checker/rules.hpp"

namespace sluice::checker {
namespace {

bool is_log(const Json& item) {
    return text(item, "event") == "log";
}

bool is_last(const Json& item) {
    return !is_log(item) && is_final(text(item, "state"));
}

bool is_line(const Json& item, const LogLine& line) {
    return number(item, "seq") == line.seq && text(item, "message") == line.message &&
           number(item, "attempt") == line.attempt;
}

bool is_event(const Json& item, const Event& event) {
    return text(item, "type") == event.type && text(item, "state") == event.to &&
           number(item, "attempt") == event.attempt;
}

// Whether the items are those of the history after its first `events` events and `lines` log lines.
bool goes_on_after(const boost::json::array& items, const Job& job, std::size_t events,
                   std::size_t lines) {
    for (const Json& item : items) {
        if (is_log(item)) {
            if (lines >= job.lines.size() || !is_line(item, job.lines[lines])) return false;
            ++lines;
        } else {
            if (events >= job.events.size() || !is_event(item, job.events[events])) return false;
            ++events;
        }
    }
    return true;
}

// Of the position only the sum of the two numbers is known.
bool is_told_by_history(const boost::json::array& items, const Job& job, std::int64_t after) {
    const auto sum = static_cast<std::size_t>(after);
    const std::size_t most = std::min(sum, job.events.size());
    for (std::size_t events = 0; events <= most; ++events) {
        if (sum - events > job.lines.size()) continue;
        if (goes_on_after(items, job, events, sum - events)) return true;
    }
    return false;
}

void look_at_ids(const Operation& stream, Row& row) {
    std::int64_t id = number(stream.args, "after");
    const auto& items = list(stream.result, "events");
    for (std::size_t i = 0; i < items.size(); ++i) {
        ++id;
        row.expect(number(items[i], "id") == id, stream.job,
                   fmt::format("event {} of its stream came where {} belongs",
                               number(items[i], "id"), id));
        row.expect(!is_last(items[i]) || i + 1 == items.size(), stream.job,
                   "its stream went on after the end");
    }
}

// The item of one id.
std::string told(const Json& item) {
    return is_log(item)
               ? "log " + text(item, "message")
               : text(item, "type") + " in attempt " + std::to_string(number(item, "attempt"));
}

// By job and id: the item that a stream had there.
using Told = std::map<std::string, std::map<std::int64_t, std::string>>;
// By job: the id of the event that ended it, where a stream had it.
using Ends = std::map<std::string, std::int64_t>;

void look_at_agreement(const Operation& stream, Told& all, Ends& ends, Row& row) {
    for (const Json& item : list(stream.result, "events")) {
        const std::int64_t id = number(item, "id");
        const auto first = all[stream.job].try_emplace(id, told(item)).first;
        row.expect(first->second == told(item), stream.job,
                   fmt::format("two streams tell two things at {}: {}, {}", id, first->second,
                               told(item)));
        if (is_last(item)) ends[stream.job] = id;
    }
}

// A stream that begins at the end is told that nothing comes, and no other stream is.
void look_at_end(const Operation& stream, const Job& job, const Ends& ends, Row& row) {
    const std::int64_t after = number(stream.args, "after");
    const auto end = ends.find(stream.job);
    if (stream.status == 204) {
        row.expect(job.end() != nullptr && after >= job.end()->seq, job.id,
                   "its stream was said to be over, and it had not ended");
        row.expect(end == ends.end() || after >= end->second, job.id,
                   "its stream was said to be over before its end");
    } else {
        row.expect(end == ends.end() || after < end->second, job.id,
                   "its stream was not said to be over");
    }
}

}  // namespace

// From its start position on, a stream has the items of the history: ids without gap or repeat,
// every stream the same at the same id, the end once and last. After the end nothing comes.
void streams_tell_all(const Evidence& evidence, const Limits& limits, Row& row) {
    Told all;
    Ends ends;
    for (const Operation& stream : evidence.operations) {
        if (!stream.is_ok("stream")) continue;
        const Job* job = evidence.find(stream.job);
        if (may_be_removed(evidence, limits, stream.job)) continue;
        row.expect(job != nullptr, stream.job, "has a stream and is not there");
        if (job == nullptr) continue;
        look_at_ids(stream, row);
        look_at_agreement(stream, all, ends, row);
        row.expect(
            is_told_by_history(list(stream.result, "events"), *job, number(stream.args, "after")),
            stream.job, "its stream tells another story than its history");
    }
    for (const Operation& stream : evidence.operations) {
        const Job* job = evidence.find(stream.job);
        if (stream.is_ok("stream") && job != nullptr) look_at_end(stream, *job, ends, row);
    }
}

}  // namespace sluice::checker
