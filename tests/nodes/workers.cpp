#include <thread>

#include "nodes/actors.hpp"

namespace sluice::nodes {
namespace {

using e2e::Fields;
using e2e::Json;
using e2e::List;
using e2e::Millis;
using e2e::text;
using simulation::Dice;

constexpr std::uint64_t seeds_of_workers = 500;  // apart from those of clients
constexpr int longest_run_ms = 200;
constexpr int patience_ms = 6000;

// A lease that a worker holds.
struct Held {
    std::string lease;
    std::string job;
    int term_ms = 0;
    std::int64_t lines = 0;    // sent so far
    bool is_over = false;      // the engine said so
    bool is_canceled = false;  // the engine asked to stop
};

class Worker {
  public:
    Worker(Stage& stage, int number)
        : stage_(stage),
          caller_(stage.nodes, stage.record, "worker-" + std::to_string(number),
                  stage.seed * 1000 + seeds_of_workers + static_cast<std::uint64_t>(number),
                  tenant_of(number)),
          dice_(caller_.dice) {
        caller_.set_patience(stage.patience);
    }

    void run() {
        while (stage_.phase != Phase::over) {
            for (Held& held : claim()) {
                if (is_chaos() && dice_.percent(2)) {
                    vanish(held);
                    break;  // with all leases that it held
                }
                work_on(held);
            }
        }
    }

  private:
    bool is_chaos() const { return stage_.phase == Phase::chaos; }

    std::vector<Held> claim();
    void work_on(Held& held);
    void work_a_while(Held& held);
    void finish(Held& held);
    void vanish(const Held& held);
    void heartbeat(Held& held);
    void log(Held& held);
    void report(Held& held, const Fields& body);
    void hand_back(Held& held);
    Answer say(const Held& held, const std::string& op, const Fields& body, Fields args = {});

    void pause(int milliseconds) { std::this_thread::sleep_for(Millis(milliseconds)); }
    std::string worker_id() const { return caller_.name() + "-life-" + std::to_string(lives_); }

    Stage& stage_;
    Caller caller_;
    Dice& dice_;
    int lives_ = 1;
};

std::vector<Held> Worker::claim() {
    const int term = 1000 + dice_.below(2000);
    const bool is_patient = stage_.claims_are_patient;
    const int limit = is_patient ? 1 : 1 + dice_.below(5);
    const int wait = is_patient ? patience_ms : dice_.below(1500);
    const Answer answer = caller_.once(
        {.op = "claim",
         .args = {{"worker", worker_id()}, {"limit", limit}, {"lease_ms", term}, {"wait_ms", wait}},
         .path = "/api/v1/leases",
         .body = serialize(Fields{{"worker_id", worker_id()},
                                  {"tenant", caller_.tenant()},
                                  {"queues", List{queue_name}},
                                  {"limit", limit},
                                  {"lease_ms", term},
                                  {"wait_ms", wait}}),
         .waits = Millis(wait)});
    std::vector<Held> all;
    if (!answer.is_ok()) {
        pause(50);
        return all;
    }
    for (const Json& lease : e2e::list(answer.body, "leases")) {
        all.push_back({.lease = text(lease, "lease_id"),
                       .job = text(e2e::at(lease, "job"), "id"),
                       .term_ms = term});
    }
    return all;
}

// The process is gone: its jobs get no more messages, and the next worker has another name.
void Worker::vanish(const Held& held) {
    stage_.record.note("vanish", worker_id(), {{"job", held.job}});
    ++lives_;
}

Answer Worker::say(const Held& held, const std::string& op, const Fields& body, Fields args) {
    args["job"] = held.job;
    args["lease"] = held.lease;
    return caller_.until_known({.op = op,
                                .args = std::move(args),
                                .path = "/api/v1/leases/" + held.lease + "/" + op,
                                .body = serialize(body)});
}

void Worker::heartbeat(Held& held) {
    const Answer answer =
        say(held, "heartbeat", {{"progress", dice_.below(100)}, {"lease_ms", held.term_ms}},
            {{"lease_ms", held.term_ms}});
    held.is_over = answer.is_known() && !answer.is_ok();
    held.is_canceled = answer.is_ok() && e2e::flag(answer.body, "cancel_requested");
}

void Worker::log(Held& held) {
    List entries;
    for (int i = dice_.below(3); i >= 0; --i) {
        ++held.lines;
        entries.emplace_back(
            Fields{{"message", "line " + std::to_string(held.lines) + " under " + held.lease},
                   {"line", held.lines}});
    }
    const Answer answer = say(held, "logs", {{"entries", entries}}, {{"entries", entries}});
    held.is_over = answer.is_known() && !answer.is_ok();
}

void Worker::report(Held& held, const Fields& body) {
    const Answer answer = say(held, "report", body, {{"body", body}});
    if (!answer.is_known()) return;
    if (dice_.one_in(12)) say(held, "report", body, {{"body", body}});
    if (answer.is_ok() && dice_.one_in(25)) {
        const Fields other{{"outcome", "succeeded"}, {"result", "another one"}};
        say(held, "report", other, {{"body", other}});
    }
    if (dice_.one_in(25)) heartbeat(held);  // under a lease that is over
    if (dice_.one_in(25)) log(held);
}

void Worker::hand_back(Held& held) {
    say(held, "release", {});
}

void Worker::work_a_while(Held& held) {
    for (int part = dice_.below(3); part >= 0; --part) {
        if (dice_.one_in(3)) log(held);
        if (held.is_over || held.is_canceled) return;
        pause(dice_.below(longest_run_ms / 3));
        if (dice_.one_in(3)) heartbeat(held);
        if (held.is_over || held.is_canceled) return;
    }
}

void Worker::work_on(Held& held) {
    work_a_while(held);
    if (is_chaos() && dice_.percent(4)) return vanish(held);
    // A worker that loses track of the time: its lease has ended, or is just ending, at its next
    // message.
    if (is_chaos() && dice_.percent(3)) {
        pause(held.term_ms - 50 + dice_.below(dice_.one_in(3) ? 2000 : 400));
    }
    if (held.is_over && !dice_.one_in(10)) return;
    if (held.is_canceled && !dice_.one_in(5)) {
        return dice_.one_in(4) ? hand_back(held) : report(held, {{"outcome", "canceled"}});
    }
    finish(held);
}

void Worker::finish(Held& held) {
    const int chance = dice_.below(100);
    if (chance < 6 && is_chaos()) return hand_back(held);
    if (chance < 18) return report(held, {{"outcome", "failed"}, {"error_code", "BAD_LUCK"}});
    if (chance < 22) {
        return report(held,
                      {{"outcome", "failed"}, {"error_code", "NO_USE"}, {"retryable", false}});
    }
    if (chance < 24) return report(held, {{"outcome", "canceled"}});
    if (chance < 26) return report(held, {{"outcome", "timed_out"}});
    report(held, {{"outcome", "succeeded"}, {"result", Fields{{"by", held.lease}}}});
}

}  // namespace

void act_as_worker(Stage& stage, int number) {
    Worker(stage, number).run();
}

}  // namespace sluice::nodes
