#include "client/link/job_json.hpp"

#include <fmt/format.h>

#include <limits>

namespace sluice::client {
namespace {

int read_int(JsonReader& reader) {
    return static_cast<int>(
        reader.integer(std::numeric_limits<int>::min(), std::numeric_limits<int>::max()));
}

std::optional<Time> read_time(JsonReader& reader) {
    if (reader.null()) return std::nullopt;
    const auto time = parse_rfc3339(reader.string());
    if (!time) reader.fail("is not a time");
    return time;
}

std::vector<std::string> read_strings(JsonReader& reader) {
    std::vector<std::string> strings;
    if (reader.null()) return strings;
    reader.array([&](std::size_t) { strings.push_back(reader.string()); });
    return strings;
}

// A JSON value as text; empty for null.
std::string read_json(JsonReader& reader) {
    if (reader.null()) return {};
    return std::string(reader.raw());
}

State read_state(JsonReader& reader) {
    const std::string text = reader.string();
    const auto state = parse_state(text);
    if (!state) reader.fail("\"" + text + "\" is not a state that this version knows");
    return state.value_or(State::queued);
}

Level read_level(JsonReader& reader) {
    const std::string text = reader.string();
    if (text == "error") return Level::error;
    return text == "warn" ? Level::warn : Level::info;
}

std::vector<Millis> read_delays(JsonReader& reader) {
    std::vector<Millis> delays;
    reader.array([&](std::size_t) { delays.emplace_back(reader.integer()); });
    return delays;
}

// "none", a list of delays, or an object with its kind.
Backoff read_backoff(JsonReader& reader) {
    if (reader.null()) return {};
    if (reader.kind() == JsonReader::Kind::array) return Backoff::list(read_delays(reader));
    if (reader.kind() != JsonReader::Kind::object) {
        reader.raw();
        return {};
    }
    Backoff backoff = Backoff::exponential({}, {});
    reader.object([&](std::string_view key) {
        if (key == "base_ms") backoff.base = Millis(reader.integer());
        if (key == "cap_ms") backoff.cap = Millis(reader.integer());
    });
    return backoff;
}

void write_backoff(JsonWriter& json, const Backoff& backoff) {
    json.key("backoff");
    switch (backoff.kind) {
        case Backoff::Kind::none: return json.value("none");
        case Backoff::Kind::list:
            json.begin_array();
            for (const Millis delay : backoff.delays) json.value(delay.count());
            return json.end_array();
        case Backoff::Kind::exponential: break;
    }
    json.begin_object();
    json.field("kind", "exponential");
    json.field("base_ms", backoff.base.count());
    json.field("cap_ms", backoff.cap.count());
    json.end_object();
}

// Reads an object by `read_member(inner, key)`, and returns its whole text.
template <class ReadMember>
std::string read_whole(JsonReader& reader, ReadMember read_member) {
    const std::string_view text = reader.raw();
    if (reader.failed()) return {};
    JsonReader inner(text, answer_depth_max);
    inner.object([&](std::string_view key) { read_member(inner, key); });
    if (const auto done = inner.finish(); !done) reader.fail_within(done.error());
    return std::string(text);
}

bool read_text_member(JsonReader& in, std::string_view key, Job& job) {
    struct Member {
        std::string_view name;
        std::string Job::*field;
    };
    static constexpr Member members[] = {
        {"id", &Job::id},
        {"tenant", &Job::tenant},
        {"project", &Job::project},
        {"queue", &Job::queue},
        {"type", &Job::type},
        {"entity_type", &Job::entity_type},
        {"entity_id", &Job::entity_id},
        {"site_id", &Job::site_id},
        {"node_id", &Job::node_id},
        {"error_code", &Job::error_code},
        {"error_message", &Job::error_message},
        {"message", &Job::message},
        {"locked_by", &Job::locked_by},
        {"replay_of", &Job::replay_of},
        {"source", &Job::source},
        {"correlation_id", &Job::correlation_id},
    };
    for (const Member& member : members) {
        if (member.name != key) continue;
        job.*member.field = read_text(in);
        return true;
    }
    return false;
}

bool read_time_member(JsonReader& in, std::string_view key, Job& job) {
    struct Member {
        std::string_view name;
        std::optional<Time> Job::*field;
    };
    static constexpr Member members[] = {
        {"run_after", &Job::run_after},       {"next_eligible_at", &Job::next_eligible_at},
        {"created_at", &Job::created_at},     {"started_at", &Job::started_at},
        {"completed_at", &Job::completed_at}, {"lease_until", &Job::lease_until},
    };
    for (const Member& member : members) {
        if (member.name != key) continue;
        job.*member.field = read_time(in);
        return true;
    }
    return false;
}

void read_job_member(JsonReader& in, std::string_view key, Job& job) {
    if (read_text_member(in, key, job) || read_time_member(in, key, job)) return;
    if (key == "state") {
        job.state = read_state(in);
    } else if (key == "exclusive_keys") {
        job.exclusive_keys = read_strings(in);
    } else if (key == "labels") {
        job.labels = read_strings(in);
    } else if (key == "depends_on") {
        job.depends_on = read_strings(in);
    } else if (key == "priority") {
        job.priority = read_int(in);
    } else if (key == "payload") {
        job.payload = std::string(in.raw());
    } else if (key == "result") {
        job.result = read_json(in);
    } else if (key == "attempt") {
        job.attempt = read_int(in);
    } else if (key == "max_attempts") {
        job.max_attempts = read_int(in);
    } else if (key == "backoff") {
        job.backoff = read_backoff(in);
    } else if (key == "on_dependency_failure") {
        job.on_dependency_failure =
            parse_on_dependency_failure(read_text(in)).value_or(OnDependencyFailure::cancel);
    } else if (key == "timeout_ms") {
        job.timeout = Millis(in.integer());
    } else if (key == "progress") {
        if (!in.null()) job.progress = read_int(in);
    } else if (key == "revision") {
        job.revision = in.integer();
    } else if (key == "damaged") {
        job.damaged = in.boolean();
    }
}

void write_text(JsonWriter& json, std::string_view name, const std::string& text) {
    if (!text.empty()) json.field(name, text);
}

void write_list(JsonWriter& json, std::string_view name, const std::vector<std::string>& list) {
    if (!list.empty()) json.list(name, list);
}

}  // namespace

std::string read_text(JsonReader& reader) {
    return reader.null() ? std::string() : reader.string();
}

Job read_job(JsonReader& reader) {
    Job job;
    bool has_state = false;
    job.json = read_whole(reader, [&](JsonReader& in, std::string_view key) {
        has_state |= key == "state";
        read_job_member(in, key, job);
    });
    if (!reader.failed() && (job.id.empty() || job.type.empty() || !has_state)) {
        reader.fail("is not a job: it has no id, type or state");
    }
    return job;
}

LogLine read_log_line(JsonReader& reader) {
    LogLine line;
    line.json = read_whole(reader, [&](JsonReader& in, std::string_view key) {
        if (key == "seq") line.seq = in.integer();
        if (key == "attempt") line.attempt = read_int(in);
        if (key == "level") line.level = read_level(in);
        if (key == "message") line.message = read_text(in);
        if (key == "data") line.data = read_json(in);
        if (key == "timestamp") line.at = read_time(in).value_or(Time{});
    });
    return line;
}

Event read_event(JsonReader& reader) {
    Event event;
    event.json = read_whole(reader, [&](JsonReader& in, std::string_view key) {
        if (key == "seq") event.seq = in.integer();
        if (key == "type") event.type = read_text(in);
        if (key == "from") event.from = read_text(in);
        if (key == "to") event.to = read_text(in);
        if (key == "attempt") event.attempt = read_int(in);
        if (key == "actor") event.actor = read_text(in);
        if (key == "at") event.at = read_time(in).value_or(Time{});
        if (key == "detail") event.detail = read_json(in);
        if (key == "hash") event.hash = read_text(in);
    });
    return event;
}

Update::Status read_status(JsonReader& reader) {
    Update::Status status;
    bool has_state = false;
    status.json = read_whole(reader, [&](JsonReader& in, std::string_view key) {
        if (key == "state") {
            status.state = read_state(in);
            has_state = true;
        }
        if (key == "type") status.type = read_text(in);
        if (key == "attempt") status.attempt = read_int(in);
        if (key == "at") status.at = read_time(in).value_or(Time{});
    });
    if (!has_state) reader.fail_at("state", "is missing");
    return status;
}

Explanation read_explanation(JsonReader& reader) {
    Explanation explanation;
    bool has_state = false;
    const auto read_reason = [](JsonReader& in) {
        Reason reason;
        in.object([&](std::string_view key) {
            if (key == "code") reason.code = read_text(in);
            if (key == "detail") reason.detail = read_text(in);
            if (key == "until") reason.until = read_time(in);
            if (key != "blocker" || in.null()) return;
            in.object([&](std::string_view part) {
                if (part == "kind") reason.blocker_kind = read_text(in);
                if (part == "id") reason.blocker = read_text(in);
            });
        });
        return reason;
    };
    explanation.json = read_whole(reader, [&](JsonReader& in, std::string_view key) {
        if (key == "state") {
            explanation.state = read_state(in);
            has_state = true;
        }
        if (key != "reasons") return;
        in.array([&](std::size_t) { explanation.reasons.push_back(read_reason(in)); });
    });
    if (!has_state) reader.fail_at("state", "is missing");
    return explanation;
}

WorkerSeen read_worker(JsonReader& reader) {
    WorkerSeen worker;
    worker.json = read_whole(reader, [&](JsonReader& in, std::string_view key) {
        if (key == "worker_id") worker.worker_id = read_text(in);
        if (key == "tenant") worker.tenant = read_text(in);
        if (key == "queues") worker.queues = read_strings(in);
        if (key == "types") worker.types = read_strings(in);
        if (key == "labels") worker.labels = read_strings(in);
        if (key == "waiting") worker.waiting = in.boolean();
        if (key == "last_claim") worker.last_claim = read_time(in);
        if (key == "jobs") worker.jobs = read_strings(in);
    });
    return worker;
}

std::string problem_with_json(std::string_view text, std::size_t depth_max) {
    JsonReader reader(text, depth_max);
    reader.raw();
    const auto done = reader.finish();
    return done ? std::string() : done.error().message;
}

void write_new_job(JsonWriter& json, const NewJob& job, const std::string& tenant,
                   const std::string& pointer) {
    const std::string problem = problem_with_json(job.payload);
    if (!problem.empty()) {
        throw Error(ErrorKind::usage, 0, "malformed", "the payload " + problem,
                    pointer + "/payload");
    }
    json.begin_object();
    json.field("type", job.type);
    json.raw_field("payload", job.payload);
    write_text(json, "tenant", job.tenant.empty() ? tenant : job.tenant);
    write_text(json, "project", job.project);
    write_text(json, "queue", job.queue);
    if (job.priority) json.field("priority", *job.priority);
    if (job.run_after) json.field("run_after", *job.run_after);
    if (job.delay) json.field("delay_ms", job.delay->count());
    if (job.timeout) json.field("timeout_ms", job.timeout->count());
    if (job.max_attempts) json.field("max_attempts", *job.max_attempts);
    if (job.backoff) write_backoff(json, *job.backoff);
    write_text(json, "entity_type", job.entity_type);
    write_text(json, "entity_id", job.entity_id);
    write_text(json, "site_id", job.site_id);
    write_text(json, "node_id", job.node_id);
    write_list(json, "exclusive_keys", job.exclusive_keys);
    write_list(json, "labels", job.labels);
    write_list(json, "depends_on", job.depends_on);
    if (job.on_dependency_failure) {
        json.field("on_dependency_failure", to_text(*job.on_dependency_failure));
    }
    write_text(json, "source", job.source);
    write_text(json, "correlation_id", job.correlation_id);
    json.end_object();
}

}  // namespace sluice::client
