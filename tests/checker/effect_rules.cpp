// The changes of one transaction are all seen or none.
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

#include "checker/rules.hpp"

namespace sluice::checker {
namespace {

bool was_claimed(const Job& job) {
    return std::any_of(job.events.begin(), job.events.end(),
                       [](const Event& event) { return event.type == "claimed"; });
}

// All jobs of a batch are there, or none, whatever its answer.
void look_at_batch(const Operation& batch, const std::set<std::string>& marks, Row& row) {
    const auto& bodies = list(batch.args, "bodies");
    const auto found = std::count_if(bodies.begin(), bodies.end(), [&](const Json& body) {
        return marks.contains(text(body, "correlation_id"));
    });
    const auto all = static_cast<std::ptrdiff_t>(bodies.size());
    row.expect(found == 0 || found == all, batch.key,
               fmt::format("{} of the {} jobs of a batch are there", found, all));
    if (batch.outcome == Outcome::ok) row.expect(found == all, batch.key, "a batch is lost");
}

// The actions of a job on an entity, in order.
struct Doings {
    std::vector<std::size_t> starts{};
    std::vector<std::size_t> ends{};
};

void look_at_steps(const Entity& entity, Row& row) {
    std::string state;
    std::int64_t seq = 0;
    for (const Entity::Event& event : entity.events) {
        row.expect(event.seq == ++seq, entity.name, "its events are not numbered 1, 2, 3…");
        if (seq > 1) row.expect(event.from == state, entity.name, "a step starts where none ended");
        state = event.to;
    }
    row.expect(text(entity.fields, "state") == state, entity.name,
               "is in another state than its events say");
    row.expect(number(entity.fields, "revision") == seq, entity.name,
               "has another revision than events");
}

// A job that ended moved the entity, unless another job had taken it over meanwhile.
void look_at_job(const Entity& entity, const Job& job, const Doings& doings, Row& row) {
    row.expect(doings.starts.empty() == !was_claimed(job), job.id,
               "was claimed without starting " + entity.name + ", or the other way round");
    row.expect(doings.ends.size() <= 1, job.id, "has ended twice for " + entity.name);
    if (doings.starts.empty()) {
        return row.expect(doings.ends.empty(), job.id, "stopped what it had not started");
    }
    const std::size_t next = doings.starts.back() + 1;
    const bool is_taken_over = next < entity.events.size() && entity.events[next].job != job.id;
    row.expect(is_taken_over != (doings.ends.size() == 1 && doings.ends[0] == next), job.id,
               "its end and that of its work on " + entity.name + " do not go together");
    if (doings.ends.empty()) return;
    const bool succeeded = entity.events[doings.ends[0]].action == "done";
    row.expect(succeeded == (job.state == "succeeded"), job.id,
               "ended otherwise than " + entity.name + " was told");
}

void look_at_entity(const Evidence& evidence, const Entity& entity, Row& row) {
    look_at_steps(entity, row);
    std::map<std::string, Doings> by_job;
    for (std::size_t i = 0; i < entity.events.size(); ++i) {
        const Entity::Event& event = entity.events[i];
        if (event.job.empty() || event.action == "created") continue;
        Doings& doings = by_job[event.job];
        (event.action == "start" ? doings.starts : doings.ends).push_back(i);
    }
    for (const auto& [job_id, job] : evidence.jobs) {
        const std::vector<std::string> keys = job.keys();
        const bool is_about = std::find(keys.begin(), keys.end(), entity.name) != keys.end();
        if (is_about) look_at_job(entity, job, by_job[job_id], row);
        row.expect(is_about || !by_job.contains(job_id), job_id, "moved another's " + entity.name);
    }
}

}  // namespace

// The jobs of a batch come together; a job that an entity follows starts it when it is claimed and
// stops it when it ends, once, in the way that it ended.
void effects_are_atomic(const Evidence& evidence, const Limits& limits, Row& row) {
    std::set<std::string> marks;
    for (const auto& [id, gone] : evidence.gone) {
        if (may_be_removed(evidence, limits, id)) marks.insert(gone.mark);
    }
    for (const auto& [id, job] : evidence.jobs) marks.insert(text(job.fields, "correlation_id"));
    for (const Operation& operation : evidence.operations) {
        if (operation.op == "batch") look_at_batch(operation, marks, row);
    }
    for (const Entity& entity : evidence.entities) look_at_entity(evidence, entity, row);
}

}  // namespace sluice::checker
