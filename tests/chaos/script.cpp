#include "chaos/script.hpp"

#include <thread>

#include "nodes/history_export.hpp"

namespace sluice::chaos {
namespace {

using e2e::Fields;
using e2e::Json;
using e2e::List;
using e2e::Millis;
using e2e::text;
using nodes::Answer;
using nodes::Call;

constexpr std::uint64_t seed_of_the_script = 1;
constexpr int term_ms = 400;
constexpr auto patience = std::chrono::seconds(20);

}  // namespace

Script::Script(Episode& episode, std::function<void()> revive)
    : episode_(episode),
      revive_(std::move(revive)),
      caller_(episode.nodes(), episode.record(), "script", seed_of_the_script),
      dice_(caller_.dice) {}

// Caller::connection() rolls the caller's dice at each call, so that a run with one call more goes
// on differently: the operations are the same up to the fault, and as many after it.
Answer Script::ask(const Call& call) {
    const auto begin = std::chrono::steady_clock::now();
    for (;;) {
        Answer answer = caller_.once(call);
        if (answer.is_known()) return answer;
        if (e2e::since(begin) > patience) throw std::runtime_error(call.op + " gets no answer");
        revive_();
    }
}

void Script::run(int operations) {
    for (int i = 0; i < operations; ++i) step();
}

void Script::step() {
    const int what = dice_.below(100);
    if (what < 20) return submit();
    if (what < 26) return submit_batch();
    if (what < 32) return cancel();
    if (what < 36) return replay();
    if (what < 38) return read();
    if (what < 43) return change_limits();
    if (held_.empty()) return claim(1 + dice_.below(4));
    const auto place = static_cast<std::size_t>(dice_.below(static_cast<int>(held_.size())));
    Held& held = held_[place];
    if (what < 50) return heartbeat(held);
    if (what < 65) return log(held);
    if (what < 70) {
        say(held, "release", {});
    } else {
        report(held);
    }
    held_.erase(held_.begin() + static_cast<std::ptrdiff_t>(place));
}

Fields Script::new_job() {
    const std::string mark = "mark-" + std::to_string(++marks_);
    Fields job{{"type", "task"},
               {"queue", nodes::queue_name},
               {"correlation_id", mark},
               {"payload", Fields{{"mark", mark}, {"filler", std::string(10, 'x')}}},
               {"max_attempts", 2},
               {"backoff", "none"}};
    if (dice_.one_in(3)) job["exclusive_keys"] = List{"key-" + std::to_string(dice_.below(3))};
    if (dice_.one_in(2)) job["source"] = nodes::any_source(dice_);
    const auto earlier = episode_.stage().recent_job(dice_);
    if (earlier && dice_.one_in(5)) job["depends_on"] = List{*earlier};
    return job;
}

void Script::submit() {
    const Fields body = new_job();
    const std::string key = "key-of-" + text(body, "correlation_id");
    const Answer answer =
        ask({.op = "submit",
             .args = {{"ref", body.at("correlation_id")}, {"body", body}, {"key", key}},
             .path = "/api/v1/jobs",
             .body = serialize(body),
             .key = key});
    if (answer.is_ok()) episode_.stage().remember(text(answer.body, "id"));
}

// The checker knows submits of one job each; so the record has these, beside the batch.
void Script::submit_batch() {
    const List bodies{new_job(), new_job(), new_job()};
    const std::string key = "batch-of-" + text(bodies[0], "correlation_id");
    nodes::Record& record = episode_.record();
    const std::int64_t t0 = record.now();
    const Answer answer = ask({.op = "batch",
                               .path = "/api/v1/jobs/batch",
                               .body = serialize(Fields{{"jobs", bodies}}),
                               .key = key});
    const std::int64_t t1 = record.now();
    for (std::size_t i = 0; i < bodies.size(); ++i) {
        const Json& mark = e2e::at(bodies[i], "correlation_id");
        Fields line{{"op", "submit"},
                    {"actor", caller_.name()},
                    {"args", Fields{{"ref", mark}, {"body", bodies[i]}}},
                    {"t0", t0},
                    {"t1", t1},
                    {"outcome", answer.is_ok() ? "ok" : "fail"},
                    {"status", answer.status},
                    {"result", answer.body}};
        if (answer.is_ok()) {
            line["result"] = e2e::list(answer.body, "jobs")[i];
            episode_.stage().remember(text(line["result"], "id"));
        }
        record.write(line);
    }
}

void Script::claim(int limit) {
    const Answer answer = ask(
        {.op = "claim",
         .args = {{"worker", "script"}, {"limit", limit}, {"lease_ms", term_ms}, {"wait_ms", 0}},
         .path = "/api/v1/leases",
         .body = serialize(Fields{{"worker_id", "script"},
                                  {"queues", List{nodes::queue_name}},
                                  {"limit", limit},
                                  {"lease_ms", term_ms}})});
    if (!answer.is_ok()) return;
    for (const Json& lease : e2e::list(answer.body, "leases")) {
        held_.push_back({text(lease, "lease_id"), text(e2e::at(lease, "job"), "id"), 0});
    }
}

void Script::cancel() {
    const auto job = episode_.stage().recent_job(dice_);
    if (!job) return submit();
    ask({.op = "cancel",
         .args = {{"job", *job}},
         .path = "/api/v1/jobs/" + *job + "/cancel",
         .body = "{}"});
}

void Script::replay() {
    const auto job = episode_.stage().any_job(dice_);
    if (!job) return submit();
    const std::string key = "replay-" + std::to_string(++marks_);
    const Answer answer = ask({.op = "replay",
                               .args = {{"job", *job}, {"key", key}, {"body", Fields{}}},
                               .path = "/api/v1/jobs/" + *job + "/replay",
                               .body = "{}",
                               .key = key});
    if (answer.is_ok()) episode_.stage().remember(text(answer.body, "id"));
}

void Script::read() {
    const auto job = episode_.stage().any_job(dice_);
    if (!job) return submit();
    ask({.op = "read", .args = {{"job", *job}}, .method = "GET", .path = "/api/v1/jobs/" + *job});
}

Answer Script::change_limit(const std::string& path, Fields body) {
    const std::string reason = "change " + std::to_string(++marks_);
    body["reason"] = reason;
    return ask({.op = "change_limit",
                .args = {{"reason", reason}, {"path", path}},
                .path = "/api/v1" + path,
                .body = serialize(body)});
}

void Script::change_limits() {
    const std::string source = "/sources/" + nodes::any_source(dice_);
    switch (dice_.below(4)) {
        case 0: change_limit(source + "/pause", {}); break;
        case 1: change_limit(source + "/resume", {}); break;
        case 2:
            if (!limits_.empty()) {
                change_limit("/limits/" + limits_.back() + "/lift", {});
                limits_.pop_back();
                break;
            }
            [[fallthrough]];
        default: {
            const Answer answer =
                change_limit("/limits", {{"type", "task"}, {"max_active", 1 + dice_.below(3)}});
            if (answer.is_ok()) limits_.push_back(text(answer.body, "id"));
        }
    }
}

Answer Script::say(const Held& held, const std::string& op, const Fields& body, Fields args) {
    args["job"] = held.job;
    args["lease"] = held.lease;
    return ask({.op = op,
                .args = std::move(args),
                .path = "/api/v1/leases/" + held.lease + "/" + op,
                .body = serialize(body)});
}

void Script::heartbeat(Held& held) {
    say(held, "heartbeat", {{"progress", dice_.below(100)}, {"lease_ms", term_ms}});
}

void Script::log(Held& held) {
    const std::int64_t line = ++held.lines;
    const Fields entry{{"message", "line " + std::to_string(line) + " under " + held.lease},
                       {"line", line}};
    say(held, "logs", {{"entries", List{entry}}}, {{"entries", List{entry}}});
}

void Script::report(Held& held) {
    Fields body{{"outcome", "succeeded"}, {"result", Fields{{"by", held.lease}}}};
    if (dice_.one_in(4)) body = {{"outcome", "failed"}, {"error_code", "BAD_LUCK"}};
    say(held, "report", body, {{"body", body}});
    if (dice_.one_in(5)) say(held, "report", body, {{"body", body}});
}

// Leases that no worker knows of, since the answer to their claim was lost, end by themselves.
void Script::settle() {
    for (int source = 0; source < nodes::sources; ++source) {
        change_limit("/sources/source-" + std::to_string(source) + "/resume", {});
    }
    const auto begin = std::chrono::steady_clock::now();
    for (;;) {
        for (Held& held : held_) {
            const Fields body{{"outcome", "succeeded"}, {"result", 1}};
            say(held, "report", body, {{"body", body}});
        }
        held_.clear();
        claim(100);
        if (!held_.empty()) continue;
        if (episode_.all_ended()) return;
        if (e2e::since(begin) > patience) return episode_.complain("the jobs do not end");
        std::this_thread::sleep_for(Millis(20));
    }
}

}  // namespace sluice::chaos
