// The position of a stream is two numbers, of the last event and of the last log line sent; their
// sum is the id of the last thing sent, because both count without gaps. So a client that comes
// back with that id goes on exactly there.
#include "interfaces/http/toolkit/job_stream.hpp"

#include <memory>

#include "application/toolkit/names.hpp"
#include "interfaces/http/toolkit/answers.hpp"
#include "interfaces/http/toolkit/store_stream.hpp"

namespace sluice::http {
namespace {

constexpr int chunk_items = 200;
constexpr std::size_t chunk_bytes = 32 * 1024;

struct Position {
    std::int64_t event_seq = 0;
    std::int64_t log_seq = 0;

    std::int64_t position() const { return event_seq + log_seq; }
};

struct Start {
    Position position;
    std::string tenant{};  // of the job
    bool over = false;     // the final status lies at or before this position
};

// Turns a position back into the two numbers: among the things up to it are as many events as have
// a position there.
Result<Start> find_start(JobReader& reader, const JobStreamStart& wanted) {
    const auto& [id, tenant, after] = wanted;
    const std::optional<Job> job = reader.find_one(id);
    if (!job || (!tenant.empty() && job->spec->tenant != tenant)) {
        return no_such_job(id);
    }
    Start start;
    start.tenant = job->spec->tenant;
    for (auto events = reader.events(id, 0, chunk_items); !events.empty();) {
        for (const Event& event : events) {
            if (event.position() > after) break;
            start.position.event_seq = event.seq;
            if (event.to && is_final(*event.to)) start.over = true;
        }
        if (events.back().position() > after) break;
        events = reader.events(id, events.back().seq, chunk_items);
    }
    start.position.log_seq = after - start.position.event_seq;
    if (start.position.log_seq > job->now.log_seq) {
        return Error{ErrorCode::malformed, "the job has no event with this id yet", ""};
    }
    return start;
}

class JobSource : public StreamSource {
  public:
    JobSource(JobId job, Position position, const JobStreamFormat& format)
        : job_(job), position_(position), format_(format) {}

    // The events and lines after the position, in order and without gaps.
    Result<StreamChunk> read(JobReader& reader) override {
        const auto events = reader.events(job_, position_.event_seq, chunk_items);
        const auto logs = reader.logs(job_, position_.log_seq, chunk_items);
        const std::optional<Job> job = reader.find_one(job_);
        StreamChunk chunk;
        if (!job) {  // it has ended and was removed
            chunk.ended = true;
            return chunk;
        }
        auto event = events.begin();
        auto log = logs.begin();
        while (!chunk.ended && chunk.text.size() < chunk_bytes) {
            const std::int64_t next = position_.position() + 1;
            if (event != events.end() && event->position() == next) {
                position_.event_seq = event->seq;
                const auto status = event->to ? format_.status(*event, *job) : std::nullopt;
                if (status) append_stream_event(chunk.text, next, "status", *status);
                chunk.ended = event->to && is_final(*event->to);
                ++event;
            } else if (log != logs.end() && log->position() == next) {
                position_.log_seq = log->seq;
                append_stream_event(chunk.text, next, "log", format_.log(*log));
                ++log;
            } else {
                break;
            }
        }
        chunk.full = events.size() == chunk_items || logs.size() == chunk_items ||
                     chunk.text.size() >= chunk_bytes;
        return chunk;
    }

  private:
    const JobId job_;
    Position position_;  // of the last thing sent
    const JobStreamFormat format_;
};

}  // namespace

void stream_job(Call call, JobStreamStart start, const JobStreamFormat& format) {
    const auto question = [start](JobReader& reader) { return find_start(reader, start); };
    call.app.queries.ask<Start>(question, [call, id = start.job, format](Result<Start> found) {
        if (!found) {
            return send_refusal(call, found.error());
        }
        if (found->over) {
            Response nothing;
            nothing.status = 204;
            return call.reply.send(std::move(nothing));
        }
        stream_from_store(call, {id, found->tenant},
                          std::make_shared<JobSource>(id, found->position, format));
    });
}

}  // namespace sluice::http
