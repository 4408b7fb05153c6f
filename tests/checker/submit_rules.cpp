// The jobs that clients submitted exist, once, and no others.
#include <map>
#include <set>

#include "checker/rules.hpp"

namespace sluice::checker {
namespace {

bool is_replay(const Job& job) {
    return !text(job.fields, "replay_of").empty();
}

// No jobs are taken of a blocked tenant; the same request may be accepted later.
bool was_blocked(const Operation& operation) {
    return operation.outcome == Outcome::fail && operation.status == 403;
}

// The network may send a request again that was refused, once there is another answer: of a replay
// when its source has ended.
bool may_have_happened(const Operation& operation, const Limits& limits) {
    return operation.outcome != Outcome::fail ||
           (limits.repeated_requests && (operation.op == "replay" || was_blocked(operation)));
}

void look_at_accepted(const Evidence& evidence, const Operation& submit, const Limits& limits,
                      Row& row) {
    const std::string id = text(submit.result, "id");
    if (may_be_removed(evidence, limits, id)) return;
    const Job* job = evidence.find(id);
    row.expect(job != nullptr, id, "was accepted and is gone");
    if (job == nullptr) return;
    row.expect(job->tenant() == submit.tenant, id, "is in another tenant");
    const Json& body = member_of(submit.args, "body");
    row.expect(member_of(job->fields, "payload") == member_of(body, "payload"), id,
               "has another payload than was sent");
    row.expect(text(job->fields, "payload_digest") == text(submit.result, "payload_digest"), id,
               "has another payload digest than was answered");
    row.expect(text(job->fields, "correlation_id") == submit.ref, id,
               "is not the job that was sent");
}

// Submits and replays that share a key.
using Requests = std::vector<const Operation*>;

void look_at_key(const std::string& key, const Requests& requests, Row& row) {
    const Operation* first = nullptr;
    for (const Operation* request : requests) {
        if (request->outcome == Outcome::ok && first == nullptr) first = request;
    }
    if (first == nullptr) return;
    for (const Operation* request : requests) {
        const bool same = member_of(request->args, "body") == member_of(first->args, "body");
        if (request->outcome == Outcome::ok) {
            row.expect(same, key, "two bodies were accepted");
            row.expect(request->result == first->result, key,
                       "a repeated request got another answer");
        } else if (request->outcome == Outcome::fail) {
            const bool was_too_soon = was_blocked(*request) && request->t0 < first->t1;
            row.expect(was_too_soon || (!same && request->status == 422), key,
                       "refused with " + std::to_string(request->status));
        }
    }
}

// All reads of the source, before its replay and after, are the same.
void look_at_source(const Evidence& evidence, const Job& source, Row& row) {
    for (const Operation& operation : evidence.operations) {
        if (operation.job != source.id || !operation.is_ok("read")) continue;
        if (number(operation.result, "revision") != number(source.fields, "revision")) continue;
        row.expect(operation.result == source.fields, source.id, "was changed after its end");
    }
}

}  // namespace

// Every acknowledged submit is found with its fields; acknowledged submits without a key made a job
// each.
void no_lost_submit(const Evidence& evidence, const Limits& limits, Row& row) {
    std::set<std::string> ids;
    for (const Operation& operation : evidence.operations) {
        if (!operation.is_ok("submit")) continue;
        look_at_accepted(evidence, operation, limits, row);
        if (!operation.key.empty()) continue;
        const std::string id = text(operation.result, "id");
        row.expect(ids.insert(id).second, id, "is the answer to two submits");
    }
}

// Every job was requested, and no mark has more jobs than requests that may have made one.
void nothing_from_nowhere(const Evidence& evidence, const Limits& limits, Row& row) {
    std::map<std::string, std::set<std::string>> asked;  // by mark or source: distinct requests
    std::size_t unkeyed = 0;
    for (const Operation& operation : evidence.operations) {
        if (!may_have_happened(operation, limits)) continue;
        const std::string request =
            operation.key.empty() ? "#" + std::to_string(++unkeyed) : "key " + operation.key;
        if (operation.op == "submit") asked["mark " + operation.ref].insert(request);
        if (operation.op == "replay") asked["replay of " + operation.job].insert(request);
    }
    std::map<std::string, std::size_t> made;
    for (const auto& [id, job] : evidence.jobs) {
        const std::string cause = is_replay(job) ? "replay of " + text(job.fields, "replay_of")
                                                 : "mark " + text(job.fields, "correlation_id");
        const auto requests = asked.find(cause);
        row.expect(requests != asked.end(), id, "nobody asked for it: " + cause);
        if (requests == asked.end()) continue;
        row.expect(++made[cause] <= requests->second.size(), id, "one job too many: " + cause);
    }
}

// All requests with one key and one body get one answer; another body is refused with 422. The same
// key of another tenant is another key, and no job is the answer to both.
void one_job_per_key(const Evidence& evidence, const Limits&, Row& row) {
    std::map<std::string, Requests> by_key;
    for (const Operation& operation : evidence.operations) {
        if (!operation.key.empty()) by_key[operation.key].push_back(&operation);
    }
    std::map<std::string, std::string> key_of_job;
    for (const auto& [key, requests] : by_key) {
        look_at_key(key, requests, row);
        for (const Operation* request : requests) {
            if (request->outcome != Outcome::ok || request->op == "batch") continue;
            const std::string id = text(request->result, "id");
            const std::string& first = key_of_job.try_emplace(id, key).first->second;
            row.expect(first == key, id, "is the answer to two keys: " + first + ", " + key);
        }
    }

    std::set<std::string> keyed_marks;
    for (const Operation& operation : evidence.operations) {
        if (operation.op == "submit" && !operation.key.empty()) keyed_marks.insert(operation.ref);
    }
    std::map<std::string, int> jobs_of_mark;
    for (const auto& [id, job] : evidence.jobs) {
        const std::string mark = text(job.fields, "correlation_id");
        if (is_replay(job) || !keyed_marks.contains(mark)) continue;
        row.expect(++jobs_of_mark[mark] == 1, id, "is a second job of one key, mark " + mark);
    }
}

// A replay is a new job with its source's payload and no dependencies; the source had ended, and
// does not change. A replay is refused only while its source has not ended, or its tenant is
// blocked.
void replays_are_new_jobs(const Evidence& evidence, const Limits& limits, Row& row) {
    for (const Operation& operation : evidence.operations) {
        if (operation.op != "replay" || operation.outcome == Outcome::info) continue;
        if (may_be_removed(evidence, limits, operation.job)) continue;
        const Job* source = evidence.find(operation.job);
        const Event* end = source == nullptr ? nullptr : source->end();
        row.expect(end != nullptr, operation.job, "the source of a replay has no end");
        if (end == nullptr) continue;
        if (operation.outcome == Outcome::fail) {
            if (was_blocked(operation)) continue;
            row.expect(end->at + limits.slack >= operation.t0, operation.job,
                       "had ended, and its replay was refused");
            continue;
        }
        look_at_source(evidence, *source, row);
        const std::string id = text(operation.result, "id");
        if (may_be_removed(evidence, limits, id)) continue;
        const Job* made = evidence.find(id);
        row.expect(end->at <= operation.t1 + limits.slack, id, "replays a job that had not ended");
        row.expect(id != operation.job && made != nullptr, id, "is no new job");
        if (made == nullptr) continue;
        row.expect(text(made->fields, "replay_of") == operation.job, id, "names another source");
        row.expect(text(made->fields, "payload_digest") == text(source->fields, "payload_digest"),
                   id, "has another payload than its source");
        row.expect(list(made->fields, "depends_on").empty(), id, "has dependencies");
    }
}

}  // namespace sluice::checker
