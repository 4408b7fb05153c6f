#include "interfaces/http/native/read_job.hpp"

#include <fmt/format.h>

#include <charconv>

#include "interfaces/http/requests/fields.hpp"

namespace sluice::http::native {
namespace {

constexpr Duration longest = limits::delay;

Backoff read_backoff_object(JsonReader& reader) {
    Backoff backoff;
    std::string kind;
    bool has_cap = false;
    UnknownFields unknown;
    reader.object([&](std::string_view key) {
        if (key == "kind") {
            kind = reader.string();
        } else if (key == "base_ms") {
            backoff.base = read_millis(reader, Duration{0}, longest);
        } else if (key == "cap_ms") {
            backoff.cap = read_millis(reader, Duration{0}, longest);
            has_cap = true;
        } else if (key == "delays_ms") {
            reader.array([&](std::size_t) {
                backoff.delays.push_back(read_millis(reader, Duration{0}, longest));
            });
        } else {
            unknown.add(key);
        }
    });
    unknown.refuse(reader);
    if (kind == "none") return Backoff::none();
    if (kind == "list") return Backoff::list(std::move(backoff.delays));
    if (kind == "exponential") {
        if (backoff.base <= Duration{0})
            reader.fail_at("base_ms", "must be above 0 for an exponential backoff");
        if (!has_cap) backoff.cap = std::max<Duration>(backoff.base, std::chrono::minutes(5));
        return Backoff::exponential(backoff.base, backoff.cap);
    }
    reader.fail_at("kind", "must be \"none\", \"list\" or \"exponential\"");
    return {};
}

// "none", a list of delays in ms, or an object with its kind.
Backoff read_backoff(JsonReader& reader) {
    switch (reader.kind()) {
        case JsonReader::Kind::array: {
            std::vector<Duration> delays;
            reader.array(
                [&](std::size_t) { delays.push_back(read_millis(reader, Duration{0}, longest)); });
            return Backoff::list(std::move(delays));
        }
        case JsonReader::Kind::object: return read_backoff_object(reader);
        default:
            if (reader.string() != "none") {
                reader.fail(
                    "must be \"none\", a list of milliseconds, or an object with kind, base_ms, "
                    "cap_ms");
            }
            return Backoff::none();
    }
}

void read_dependencies(JsonReader& reader, bool in_batch, JobRequest& request) {
    reader.array([&](std::size_t) {
        const std::string text = reader.string();
        if (in_batch && text.starts_with('#')) {
            std::size_t index = 0;
            const char* const end = text.data() + text.size();
            const auto [stop, error] = std::from_chars(text.data() + 1, end, index);
            if (error == std::errc{} && stop == end) return request.siblings.push_back(index);
        }
        if (const auto id = parse_job_id(text)) return request.job.depends_on.push_back(*id);
        reader.fail(
            in_batch ? "must be a job id, or # and the place of a job in this batch, such as \"#0\""
                     : "must be a job id");
    });
}

OnDependencyFailure read_dependency_policy(JsonReader& reader) {
    const auto choice = parse_on_dependency_failure(reader.string());
    if (!choice) reader.fail("must be \"cancel\" or \"run\"");
    return choice.value_or(OnDependencyFailure::cancel);
}

// The text fields, by name.
std::string* text_field(NewJob& job, std::string_view key) {
    if (key == "type") return &job.type;
    if (key == "tenant") return &job.tenant;
    if (key == "project") return &job.project;
    if (key == "entity_type") return &job.entity_type;
    if (key == "entity_id") return &job.entity_id;
    if (key == "site_id") return &job.site_id;
    if (key == "node_id") return &job.node_id;
    if (key == "source") return &job.source;
    if (key == "correlation_id") return &job.correlation_id;
    return nullptr;
}

// Reads the field of this name; false when there is none.
bool read_field(JsonReader& reader, std::string_view key, bool in_batch, JobRequest& request) {
    NewJob& job = request.job;
    if (std::string* text = text_field(job, key)) {
        *text = read_name(reader);
    } else if (key == "queue") {
        job.queue = read_name(reader);
    } else if (key == "priority") {
        job.priority = static_cast<int>(reader.integer(-limits::priority, limits::priority));
    } else if (key == "run_after") {
        job.run_after = read_timestamp(reader);
    } else if (key == "delay_ms") {
        job.delay = read_millis(reader, Duration{0}, limits::delay);
    } else if (key == "timeout_ms") {
        job.timeout = read_millis(reader, Duration{0}, limits::timeout);
    } else if (key == "max_attempts") {
        job.max_attempts = static_cast<int>(reader.integer(1, limits::attempts));
    } else if (key == "backoff") {
        job.backoff = read_backoff(reader);
    } else if (key == "exclusive_keys") {
        job.exclusive_keys = read_strings(reader, 1000);
    } else if (key == "labels") {
        job.labels = read_labels(reader);
    } else if (key == "depends_on") {
        read_dependencies(reader, in_batch, request);
    } else if (key == "on_dependency_failure") {
        job.on_dependency_failure = read_dependency_policy(reader);
    } else {
        return false;
    }
    return true;
}

}  // namespace

JobRequest read_job(JsonReader& reader, const std::string& tenant, bool in_batch) {
    JobRequest request;
    request.job.tenant = tenant;
    UnknownFields unknown;
    reader.object([&](std::string_view key) {
        if (key == "payload") {
            const std::string_view payload = reader.raw();
            if (payload.size() > limits::payload_bytes) {
                return reader.fail(fmt::format("is {} bytes long; at most {} are allowed",
                                               payload.size(), limits::payload_bytes),
                                   ErrorCode::too_large);
            }
            request.job.payload = payload;
            return;
        }
        if (reader.null()) return;  // the same as not given
        if (!read_field(reader, key, in_batch, request)) unknown.add(key);
    });
    unknown.refuse(reader);
    return request;
}

}  // namespace sluice::http::native
