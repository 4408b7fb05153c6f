#include "interfaces/http/api_jobs/attempts.hpp"

namespace sluice::http::api_jobs {
namespace {

constexpr int page = 200;

// History names workers with this in front.
constexpr std::string_view worker_prefix = "worker:";

std::string worker_of(const Event& claimed) {
    std::string_view actor = claimed.actor;
    if (actor.starts_with(worker_prefix)) actor.remove_prefix(worker_prefix.size());
    return std::string(actor);
}

void add(std::vector<Attempt>& attempts, const Event& event) {
    if (!event.lease) return;
    if (event.step == Step::claimed) {
        attempts.push_back({.number = event.attempt,
                            .lease = {event.job, *event.lease},
                            .worker_id = worker_of(event),
                            .started_at = event.at});
        return;
    }
    if (attempts.empty()) return;
    Attempt& current = attempts.back();
    if (event.to) {
        current.ended_at = event.at;
        current.outcome = event.step;
    }
    current.released_at = event.at;  // unless more follows under this lease
}

}  // namespace

std::vector<Attempt> read_attempts(JobReader& reader, const Job& job) {
    std::vector<Attempt> attempts;
    auto events = reader.events(job.spec->id, 0, page);
    while (!events.empty()) {
        // Events after the job was read would not match it.
        for (const Event& event : events) {
            if (event.seq <= job.now.head.seq) add(attempts, event);
        }
        if (events.back().seq >= job.now.head.seq) break;
        events = reader.events(job.spec->id, events.back().seq, page);
    }
    if (job.lease && !attempts.empty()) attempts.back().released_at.reset();
    return attempts;
}

}  // namespace sluice::http::api_jobs
