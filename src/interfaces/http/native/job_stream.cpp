// Server-Sent Events about one job: its log lines and its states on one sequence.
//
// The stream reads the store, never a message: a hint that something changed only makes it look
// again. What it has sent is told by two numbers, of the last event and of the last log line; their
// sum is the id of the last thing sent, because both count without gaps. So a client that comes
// back with that id goes on exactly there.
#include <fmt/format.h>

#include <memory>

#include "interfaces/http/answers.hpp"
#include "interfaces/http/native/fields.hpp"
#include "interfaces/http/native/handlers.hpp"
#include "interfaces/http/native/job_json.hpp"

namespace sluice::http::native {
namespace {

constexpr int chunk_items = 200;
constexpr std::size_t chunk_bytes = 32 * 1024;
constexpr Duration ping_period = std::chrono::seconds(15);

struct Place {
    std::int64_t event_seq = 0;
    std::int64_t log_seq = 0;

    std::int64_t position() const { return event_seq + log_seq; }
};

struct Chunk {
    std::string text;
    Place place;         // after this chunk
    bool ended = false;  // the final status is in it, or was sent before
    bool full = false;   // there may be more at once
};

void append_event(std::string& out, std::int64_t position, std::string_view type,
                  std::string_view data) {
    out += fmt::format("id: {}\nevent: {}\ndata: ", position, type);
    out += data;  // JSON without line breaks of its own
    out += "\n\n";
}

std::string status_text(const Event& event, const Job& job) {
    std::string out;
    JsonWriter json(out);
    json.begin_object();
    json.field("state", to_text(*event.to));
    json.field("type", to_text(event.step));
    json.field("attempt", event.attempt);
    json.field("at", event.at);
    if (is_final(*event.to)) {
        json.raw_field("result", job.result.empty() ? "null" : job.result);
        json.field("error_code",
                   job.error_code.empty() ? std::nullopt : std::optional(job.error_code));
        json.field("error_message",
                   job.error_message.empty() ? std::nullopt : std::optional(job.error_message));
    } else {
        json.raw_field("detail", event.detail.empty() ? "null" : event.detail);
    }
    json.end_object();
    return out;
}

// A payload or a log line's data may hold line breaks between its tokens; inside strings they are
// escaped.
std::string on_one_line(std::string text) {
    for (char& c : text) {
        if (c == '\n' || c == '\r') c = ' ';
    }
    return text;
}

std::string log_text(const LogLine& line) {
    std::string out;
    JsonWriter json(out);
    write_log_line(json, line);
    return out;
}

// What follows after `place`, in order and without gaps.
Chunk read_chunk(JobReader& reader, JobId id, Place place) {
    const auto events = reader.events(id, place.event_seq, chunk_items);
    const auto logs = reader.logs(id, place.log_seq, chunk_items);
    const std::optional<Job> job = reader.find_one(id);
    Chunk chunk{.text = {}, .place = place};
    auto event = events.begin();
    auto log = logs.begin();
    while (!chunk.ended && chunk.text.size() < chunk_bytes) {
        const std::int64_t next = chunk.place.position() + 1;
        if (event != events.end() && event->position() == next) {
            chunk.place.event_seq = event->seq;
            if (event->to)
                append_event(chunk.text, next, "status", on_one_line(status_text(*event, *job)));
            chunk.ended = event->to && is_final(*event->to);
            ++event;
        } else if (log != logs.end() && log->position() == next) {
            chunk.place.log_seq = log->seq;
            append_event(chunk.text, next, "log", on_one_line(log_text(*log)));
            ++log;
        } else {
            break;
        }
    }
    chunk.full = events.size() == chunk_items || logs.size() == chunk_items ||
                 chunk.text.size() >= chunk_bytes;
    return chunk;
}

struct Start {
    Place place;
    bool over = false;  // the final status lies at or before this place
};

// Turns a position back into the two numbers: among the things up to it are as many events as have
// a place there.
Result<Start> find_start(JobReader& reader, JobId id, const std::string& tenant,
                         std::int64_t after) {
    const std::optional<Job> job = reader.find_one(id);
    if (!job || (!tenant.empty() && job->spec.tenant != tenant)) {
        return Error{ErrorCode::not_found, "no job has this id", ""};
    }
    Start start;
    for (auto events = reader.events(id, 0, chunk_items); !events.empty();) {
        for (const Event& event : events) {
            if (event.position() > after) break;
            start.place.event_seq = event.seq;
            if (event.to && is_final(*event.to)) start.over = true;
        }
        if (events.back().position() > after) break;
        events = reader.events(id, events.back().seq, chunk_items);
    }
    start.place.log_seq = after - start.place.event_seq;
    if (start.place.log_seq > job->log_seq) {
        return Error{ErrorCode::malformed, "the job has no event with this id yet", ""};
    }
    return start;
}

class JobStream : public BodyStream {
  public:
    JobStream(App& app, JobId job, Place place)
        : shared_(std::make_shared<Shared>(app, job, place)) {
        shared_->text = "retry: 2000\n\n";
    }
    ~JobStream() override { shared_->closed = true; }

    void on_ready(std::function<void()> ready) override {
        shared_->ready = std::move(ready);
        // Weak: a watch must not keep the stream alive that owns it.
        const std::weak_ptr<Shared> weak = shared_;
        JobFeed::Watcher watcher;
        watcher.on_change = [weak] {
            if (const auto shared = weak.lock()) look(shared);
        };
        watcher.on_tick = [weak] {
            if (const auto shared = weak.lock()) ping(*shared);
        };
        watch_ =
            std::make_unique<JobFeed::Watch>(shared_->app.feed, shared_->job, std::move(watcher));
        look(shared_);
    }

    bool pull(std::string& out) override {
        out += shared_->text;
        shared_->text.clear();
        if (shared_->ended) return false;
        if (shared_->look_again) look(shared_);
        return true;
    }

  private:
    // What a question in flight needs even when the stream is gone by the time it is answered.
    struct Shared {
        Shared(App& a, JobId j, Place p) : app(a), job(j), place(p), last_sent(a.clock.now()) {}

        App& app;
        JobId job;
        Place place;
        Timestamp last_sent;
        std::string text;
        std::function<void()> ready;
        bool asking = false;
        bool look_again =
            false;  // something changed while a question was in flight or text was not taken
        bool ended = false;
        bool closed = false;
    };

    // Reads on, unless that is under way or what was read has not been sent yet.
    static void look(const std::shared_ptr<Shared>& shared) {
        if (shared->ended) return;
        if (shared->asking || shared->text.size() > 16 * 1024) {
            shared->look_again = true;
            return;
        }
        shared->asking = true;
        shared->look_again = false;
        const auto question = [job = shared->job,
                               place = shared->place](JobReader& reader) -> Result<Chunk> {
            return read_chunk(reader, job, place);
        };
        shared->app.queries.ask<Chunk>(
            question, [shared](Result<Chunk> chunk) { take(shared, std::move(chunk)); });
    }

    static void take(const std::shared_ptr<Shared>& shared, Result<Chunk> chunk) {
        shared->asking = false;
        if (shared->closed) return;
        if (!chunk) {
            shared->ended = true;  // the client comes back with the id it has
        } else {
            if (!chunk->text.empty()) shared->last_sent = shared->app.clock.now();
            shared->text += chunk->text;
            shared->place = chunk->place;
            shared->ended = chunk->ended;
            shared->look_again |= chunk->full;
        }
        if (shared->look_again) look(shared);
        shared->ready();
    }

    static void ping(Shared& shared) {
        const Timestamp now = shared.app.clock.now();
        if (now - shared.last_sent < ping_period) return;
        shared.last_sent = now;
        shared.text += ": ping\n\n";
        shared.ready();
    }

    std::shared_ptr<Shared> shared_;
    std::unique_ptr<JobFeed::Watch> watch_;
};

// Where to go on: Last-Event-ID, which browsers send by themselves, wins over ?after=.
Result<std::int64_t> read_after(const Request& request, const QueryParams& params) {
    if (const std::string_view* header = request.header("Last-Event-ID")) {
        return read_number(*header, "Last-Event-ID", 0, INT64_MAX);
    }
    return number_param(params, "after", 0, INT64_MAX, 0);
}

}  // namespace

void stream_job(Call call) {
    const std::string& request_id = call.request.request_id;
    const auto id = job_id_in_path(call);
    if (!id) return call.reply.send(problem_of(id.error(), request_id));
    const auto params = read_query(call.request, {"after", "tenant"});
    if (!params) return call.reply.send(problem_of(params.error(), request_id));
    const auto after = read_after(call.request, *params);
    if (!after) return call.reply.send(problem_of(after.error(), request_id));

    const auto question = [id = *id, tenant = tenant_param(*params), after = *after](
                              JobReader& reader) { return find_start(reader, id, tenant, after); };
    call.app.queries.ask<Start>(question, [&app = call.app, reply = call.reply, id = *id,
                                           &request_id](Result<Start> start) {
        if (!start) return reply.send(problem_of(start.error(), request_id));
        if (start->over) {  // 204 tells an EventSource not to come back
            Response nothing;
            nothing.status = 204;
            return reply.send(std::move(nothing));
        }
        Response head;
        head.content_type = "text/event-stream; charset=utf-8";
        head.headers.emplace_back("X-Accel-Buffering", "no");
        reply.stream(std::move(head), std::make_unique<JobStream>(app, id, start->place));
    });
}

}  // namespace sluice::http::native
