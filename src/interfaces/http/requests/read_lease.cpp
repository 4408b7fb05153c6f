#include "interfaces/http/requests/read_lease.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "interfaces/http/requests/fields.hpp"

namespace sluice::http {
namespace {

constexpr std::size_t message_bytes = 2000;
constexpr std::size_t error_message_bytes = 16 * 1024;
constexpr std::size_t log_lines_max = 1000;
constexpr std::size_t log_line_bytes = 64 * 1024;
constexpr std::size_t filter_names = 200;
constexpr std::size_t filter_bytes_max = 8 * 1024;  // a claim's filter is remembered for a while

std::size_t bytes_of(const ClaimFilter& filter) {
    std::size_t bytes = 0;
    for (const auto* list : {&filter.queues, &filter.types, &filter.labels}) {
        for (const std::string& name : *list) bytes += name.size();
    }
    return bytes;
}

std::string read_text(JsonReader& reader, std::size_t limit) {
    std::string text = reader.string();
    check_length(reader, text, limit);
    return text;
}

LeaseId read_lease_id(JsonReader& reader, const LeaseSeal& seal) {
    const auto lease = seal.read(reader.string());
    if (!lease) reader.fail("is not a lease id: it comes with a claimed job");
    return lease.value_or(LeaseId{});
}

std::vector<std::string> sorted_names(JsonReader& reader, std::vector<std::string> names,
                                      std::size_t items_max) {
    if (const auto refusal = check_list("", names, items_max)) {
        reader.fail(refusal->message, refusal->code);
    }
    return names;
}

// Reads the members of an object by `read_field`, which returns false for a name that it does not
// know; null counts as not given.
template <class ReadField>
void read_fields(JsonReader& reader, ReadField read_field) {
    UnknownFields unknown;
    reader.object([&](std::string_view key) {
        if (reader.null()) return;
        if (!read_field(key)) unknown.add(key);
    });
    unknown.refuse(reader);
}

LogEntry read_log_entry(JsonReader& reader) {
    LogEntry entry;
    bool has_message = false;
    read_fields(reader, [&](std::string_view key) {
        if (key == "level") {
            const auto level = parse_log_level(reader.string());
            if (!level) reader.fail("must be \"info\", \"warn\" or \"error\"");
            entry.level = level.value_or(LogLevel::info);
        } else if (key == "message") {
            entry.message = read_text(reader, log_line_bytes);
            has_message = true;
        } else if (key == "data") {
            entry.data = reader.raw();
            check_length(reader, entry.data, log_line_bytes);
        } else if (key == "timestamp" || key == "time") {
            entry.at = read_timestamp(reader);
        } else if (key == "line") {
            entry.line = reader.integer(1);
        } else {
            return false;
        }
        return true;
    });
    if (!has_message) reader.fail_at("message", "is required");
    return entry;
}

// A batch without line numbers can only be told to be a repeat when its lines carry their own
// times.
std::int64_t batch_mark(const AppendLogs& batch, std::string_view text) {
    const bool marked = std::all_of(batch.entries.begin(), batch.entries.end(),
                                    [](const LogEntry& entry) { return entry.at && !entry.line; });
    return marked ? mark_of(text) : 0;
}

Outcome read_outcome(JsonReader& reader) {
    const std::string text = reader.string();
    if (text == "succeeded") return Outcome::succeeded;
    if (text == "failed") return Outcome::failed;
    if (text == "canceled" || text == "cancelled") return Outcome::canceled;
    if (text == "timed_out") return Outcome::timed_out;
    reader.fail("must be \"succeeded\", \"failed\", \"canceled\" or \"timed_out\"");
    return Outcome::failed;
}

}  // namespace

std::int64_t mark_of(std::string_view text) {
    const Digest digest = sha256(text);
    std::int64_t mark = 0;
    std::memcpy(&mark, digest.data(), sizeof mark);
    return mark == 0 ? 1 : mark;
}

ClaimRequest read_claim(JsonReader& reader, const LeaseTerms& terms, const Caller& caller) {
    ClaimRequest request;
    ClaimJobs& claim = request.claim;
    claim.filter.tenant = caller.tenant;
    claim.term = terms.usual;
    read_fields(reader, [&](std::string_view key) {
        if (key == "worker_id") {
            claim.worker_id = read_name(reader);
        } else if (key == "tenant") {
            claim.filter.tenant = read_name(reader);
        } else if (key == "queues") {
            claim.filter.queues = sorted_names(reader, read_strings(reader, 1000), filter_names);
        } else if (key == "types") {
            claim.filter.types = sorted_names(reader, read_strings(reader, 1000), filter_names);
        } else if (key == "labels") {
            claim.filter.labels = sorted_names(reader, read_labels(reader), filter_names);
        } else if (key == "limit") {
            claim.limit = static_cast<int>(reader.integer(1, limits::batch_jobs));
        } else if (key == "lease_ms") {
            claim.term = read_millis(reader, lease_min, terms.max);
        } else if (key == "wait_ms") {
            request.wait = read_millis(reader, Duration{0}, wait_max);
        } else {
            return false;
        }
        return true;
    });
    if (bytes_of(claim.filter) > filter_bytes_max) {
        reader.fail("has more than 8 KiB of queues, types and labels", ErrorCode::too_large);
    }
    if (claim.worker_id.empty())
        reader.fail_at("worker_id", "is required: it says who takes the jobs");
    return request;
}

Heartbeat read_heartbeat(JsonReader& reader, const LeaseTerms& terms, const LeaseSeal& seal) {
    Heartbeat heartbeat;
    read_fields(reader, [&](std::string_view key) {
        if (key == "lease_id") {
            heartbeat.lease = read_lease_id(reader, seal);
        } else if (key == "lease_ms") {
            heartbeat.term = read_millis(reader, lease_min, terms.max);
        } else if (key == "progress") {
            heartbeat.progress = static_cast<int>(reader.integer(0, 100));
        } else if (key == "message") {
            heartbeat.message = read_text(reader, message_bytes);
        } else {
            return false;
        }
        return true;
    });
    return heartbeat;
}

AppendLogs read_log_batch(JsonReader& reader) {
    AppendLogs batch;
    std::string_view text;
    read_fields(reader, [&](std::string_view key) {
        if (key != "entries") return false;
        text = reader.raw();
        JsonReader lines(text);
        lines.array([&](std::size_t) {
            if (batch.entries.size() == log_lines_max) {
                return lines.fail("has more than 1000 lines", ErrorCode::too_large);
            }
            batch.entries.push_back(read_log_entry(lines));
        });
        if (const auto done = lines.finish(); !done) {
            reader.fail_within(done.error());
        }
        return true;
    });
    if (batch.entries.empty()) reader.fail_at("entries", "needs at least one line");
    batch.batch_mark = batch_mark(batch, text);
    return batch;
}

Report read_report(JsonReader& reader, const LeaseSeal& seal) {
    Report report;
    bool has_outcome = false;
    bool has_retryable = false;
    read_fields(reader, [&](std::string_view key) {
        if (key == "lease_id") {
            report.lease = read_lease_id(reader, seal);
        } else if (key == "outcome") {
            report.outcome = read_outcome(reader);
            has_outcome = true;
        } else if (key == "result") {
            report.result = reader.raw();
            check_length(reader, report.result, limits::payload_bytes);
        } else if (key == "error_code") {
            report.error_code = read_text(reader, limits::name_bytes);
        } else if (key == "error_message") {
            report.error_message = read_text(reader, error_message_bytes);
        } else if (key == "retryable") {
            report.retryable = reader.boolean();
            has_retryable = true;
        } else {
            return false;
        }
        return true;
    });
    if (!has_outcome)
        reader.fail_at("outcome", "is required: succeeded, failed, canceled or timed_out");
    if (has_retryable && report.outcome != Outcome::failed && report.retryable) {
        reader.fail_at("retryable", "belongs to the outcome \"failed\"");
    }
    return report;
}

HandBack read_release(JsonReader& reader) {
    HandBack hand_back;
    read_fields(reader, [&](std::string_view key) {
        if (key != "reason") return false;
        hand_back.reason = read_text(reader, message_bytes);
        return true;
    });
    return hand_back;
}

}  // namespace sluice::http
