#include "checker/story.hpp"

#include <fmt/chrono.h>
#include <fmt/format.h>

#include <sstream>

namespace sluice::checker {
namespace {

constexpr const char* worker = "worker:w";

Json text_or_null(const std::string& text) {
    return text.empty() ? Json(nullptr) : Json(text);
}

}  // namespace

std::string Story::time(std::int64_t milliseconds) const {
    const std::time_t seconds = milliseconds / 1000;
    return fmt::format("{:%Y-%m-%dT%H:%M:%S}.{:03}Z", fmt::gmtime(seconds), milliseconds % 1000);
}

Story::Chapter& Story::of(const std::string& lease) {
    return jobs.at(lease.substr(0, lease.find('-')));
}

// An operation takes two milliseconds, and its effect happens in the middle.
Fields& Story::done(const std::string& op, Fields args, int status, Json result) {
    args["tenant"] = tenant_;
    record.push_back({{"op", op},
                      {"actor", "someone"},
                      {"args", std::move(args)},
                      {"t0", (now_ - 1) * 1000},
                      {"t1", (now_ + 1) * 1000},
                      {"outcome", "ok"},
                      {"status", status},
                      {"result", std::move(result)}});
    pass(10);
    return record.back();
}

void Story::step(const std::string& job, const std::string& type, const std::string& to,
                 const std::string& lease, const std::string& actor, Json detail) {
    Chapter& chapter = jobs.at(job);
    const Json from = type == "submitted" || to.empty() ? Json(nullptr) : chapter.fields["state"];
    if (!to.empty()) chapter.fields["state"] = to;
    if (is_final(to)) chapter.fields["completed_at"] = time(now_);
    chapter.fields["revision"] = static_cast<std::int64_t>(chapter.events.size()) + 1;
    chapter.events.push_back({{"seq", chapter.fields["revision"]},
                              {"type", type},
                              {"from", from},
                              {"to", text_or_null(to)},
                              {"attempt", chapter.fields["attempt"]},
                              {"lease_id", text_or_null(lease)},
                              {"actor", actor},
                              {"at", time(now_)},
                              {"detail", std::move(detail)},
                              {"hash", fmt::format("{:064x}", ++count_)}});
}

std::string Story::submit(Fields body, const std::string& key) {
    const std::string id = fmt::format("{:024x}", ++count_);
    const std::string mark = "mark-" + std::to_string(count_);
    body["correlation_id"] = mark;
    body["payload"] = Fields{{"mark", mark}};
    Fields& fields = jobs[id].fields;
    fields = body;
    fields["id"] = id;
    fields["tenant"] = tenant_;
    fields["state"] = "queued";
    fields["payload_digest"] = "digest of " + mark;
    fields["attempt"] = 0;
    fields["run_after"] = time(now_ + number(body, "delay_ms"));
    if (!body.contains("max_attempts")) fields["max_attempts"] = 3;
    step(id, "submitted", "queued", "", "anonymous");
    Fields args{{"ref", mark}, {"body", std::move(body)}};
    if (!key.empty()) args["key"] = key;
    done("submit", std::move(args), 202, fields);
    return id;
}

void Story::cancel(const std::string& job) {
    const auto open = leases_.find(job);
    step(job, "canceled", "canceled", open == leases_.end() ? "" : open->second, "anonymous");
    done("cancel", {{"job", job}}, 200, jobs.at(job).fields);
}

std::string Story::replay(const std::string& job) {
    const std::string id = fmt::format("{:024x}", ++count_);
    Fields fields = jobs.at(job).fields;
    fields["id"] = id;
    fields["replay_of"] = job;
    fields["state"] = "queued";
    fields["attempt"] = 0;
    fields["result"] = nullptr;
    fields["depends_on"] = boost::json::array{};
    jobs[id].fields = fields;
    step(id, "submitted", "queued", "", "anonymous");
    done("replay", {{"job", job}, {"key", "replay-" + id}, {"body", Fields{}}}, 202,
         jobs[id].fields);
    return id;
}

void Story::read(const std::string& job) {
    done("read", {{"job", job}}, 200, jobs.at(job).fields);
}

void Story::read_logs(const std::string& job) {
    boost::json::array lines;
    for (const Fields& line : jobs.at(job).logs) lines.emplace_back(line);
    done("read_logs", {{"job", job}}, 200, Fields{{"logs", std::move(lines)}});
}

std::string Story::claim(const std::string& job, int term_ms) {
    const std::string lease = fmt::format("{}-{:016x}", job, ++count_);
    Fields& fields = jobs.at(job).fields;
    fields["attempt"] = number(fields, "attempt") + 1;
    step(job, "claimed", "running", lease, worker);
    leases_[job] = lease;
    const Fields given{{"lease_id", lease}, {"lease_until", time(now_ + term_ms)}};
    done("claim", {{"worker", "w"}, {"lease_ms", term_ms}}, 200,
         Fields{{"leases", boost::json::array{given}}});
    return lease;
}

void Story::heartbeat(const std::string& lease, int term_ms) {
    const Chapter& chapter = of(lease);
    done("heartbeat", {{"job", text(chapter.fields, "id")}, {"lease", lease}}, 200,
         Fields{{"lease_until", time(now_ + term_ms)},
                {"cancel_requested", is_final(text(chapter.fields, "state"))}});
}

void Story::log(const std::string& lease) {
    Chapter& chapter = of(lease);
    const auto seq = static_cast<std::int64_t>(chapter.logs.size()) + 1;
    const std::string message = fmt::format("line {} under {}", seq, lease);
    chapter.logs.push_back(
        {{"seq", seq}, {"attempt", chapter.fields["attempt"]}, {"message", message}});
    const Fields entry{{"message", message}, {"line", seq}};
    done("logs",
         {{"job", text(chapter.fields, "id")},
          {"lease", lease},
          {"entries", boost::json::array{entry}}},
         200, Fields{{"last_seq", seq}});
}

void Story::report(const std::string& lease, const std::string& outcome, Fields body) {
    Chapter& chapter = of(lease);
    const std::string id = text(chapter.fields, "id");
    body["outcome"] = outcome;
    const bool is_retried =
        outcome == "failed" && !body.contains("retryable") &&
        number(chapter.fields, "attempt") < number(chapter.fields, "max_attempts");
    if (is_final(text(chapter.fields, "state"))) {
        step(id, "lease_closed", "", lease, worker, Fields{{"reported", outcome}});
    } else if (is_retried) {
        step(id, "retried", "queued", lease, worker,
             Fields{{"outcome", outcome}, {"run_after", time(now_)}});
    } else {
        if (body.contains("result")) chapter.fields["result"] = body["result"];
        step(id, outcome, outcome, lease, worker);
    }
    leases_.erase(id);
    done("report", {{"job", id}, {"lease", lease}, {"body", std::move(body)}}, 200, chapter.fields);
}

void Story::release(const std::string& lease) {
    Chapter& chapter = of(lease);
    const std::string id = text(chapter.fields, "id");
    chapter.fields["attempt"] = number(chapter.fields, "attempt") - 1;
    step(id, "handed_back", "queued", lease, worker);
    leases_.erase(id);
    done("release", {{"job", id}, {"lease", lease}}, 200, chapter.fields);
}

void Story::expire(const std::string& lease) {
    const std::string id = text(of(lease).fields, "id");
    pass(1500);
    const bool ended = is_final(text(of(lease).fields, "state"));
    step(id, ended ? "lease_closed" : "lease_expired", ended ? "" : "queued", lease, "engine");
    leases_.erase(id);
}

void Story::time_out(const std::string& job) {
    pass(static_cast<int>(number(jobs.at(job).fields, "timeout_ms")));
    step(job, "timed_out", "timed_out", leases_.at(job), "engine");
}

void Story::cancel_for_dependency(const std::string& job) {
    jobs.at(job).fields["error_code"] = "DEPENDENCY_FAILED";
    step(job, "canceled", "canceled", "", "engine");
}

Fields& Story::repeat(Fields operation) {
    operation["t0"] = (now_ - 1) * 1000;
    operation["t1"] = (now_ + 1) * 1000;
    record.push_back(std::move(operation));
    pass(10);
    return record.back();
}

Verdict Story::judge() const {
    std::stringstream operations;
    std::stringstream history;
    for (const Fields& line : record) operations << serialize(line) << '\n';
    for (const auto& [id, chapter] : jobs) {
        history << serialize(Fields{{"kind", "job"}, {"job", chapter.fields}}) << '\n';
        for (const Fields& event : chapter.events) {
            history << serialize(Fields{{"kind", "event"}, {"job_id", id}, {"event", event}})
                    << '\n';
        }
        for (const Fields& line : chapter.logs) {
            history << serialize(Fields{{"kind", "log"}, {"job_id", id}, {"log", line}}) << '\n';
        }
    }
    for (const Fields& change : limit_changes) {
        history << serialize(Fields{{"kind", "limit_change"}, {"change", change}}) << '\n';
    }
    for (const Fields& limit : limits) {
        history << serialize(Fields{{"kind", "limit"}, {"limit", limit}}) << '\n';
    }
    for (const Fields& entity : entities) history << serialize(entity) << '\n';
    return check(read_evidence(operations, history));
}

}  // namespace sluice::checker
