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

constexpr int exclusive_keys = 6;
constexpr std::size_t recent_jobs = 30;

class Client {
  public:
    Client(Stage& stage, int number)
        : stage_(stage),
          caller_(stage.nodes, stage.record, "client-" + std::to_string(number),
                  stage.seed * 1000 + static_cast<std::uint64_t>(number)),
          dice_(caller_.dice) {}

    void run() {
        while (stage_.phase == Phase::chaos) {
            step();
            std::this_thread::sleep_for(Millis(10 + dice_.below(80)));
        }
    }

  private:
    void step() {
        const int what = dice_.below(100);
        if (what < 58) return submit();
        const auto job = stage_.any_job(dice_);
        if (!job) return;
        if (what < 70) return cancel(*job);
        if (what < 74) return replay(*job);
        if (what < 82) return read_logs(*job);
        read(*job);
    }

    void submit();
    Call submit_call(const Fields& body, const std::string& key) const;
    void submit_again(const Fields& body, const std::string& key);
    Fields new_job();
    void add_waits(Fields& job);
    void cancel(const std::string& job);
    void replay(const std::string& job);
    void read(const std::string& job);
    void read_logs(const std::string& job);

    std::string fresh_mark() { return caller_.name() + "-" + std::to_string(++marks_); }

    Stage& stage_;
    Caller caller_;
    Dice& dice_;
    int marks_ = 0;
};

Json any_backoff(Dice& dice) {
    if (dice.one_in(3)) return "none";
    if (dice.one_in(2)) return List{20, 150};
    return Fields{{"kind", "exponential"}, {"base_ms", 20}, {"cap_ms", 200}};
}

int any_timeout(Dice& dice) {
    if (dice.one_in(5)) return 0;
    return dice.one_in(4) ? 100 + dice.below(1500) : 60'000;
}

// What a job may have to wait for.
void Client::add_waits(Fields& job) {
    if (dice_.percent(25)) {
        List keys;
        keys.emplace_back("key-" + std::to_string(dice_.below(exclusive_keys)));
        if (dice_.one_in(4)) keys.emplace_back("rare-key");
        job["exclusive_keys"] = std::move(keys);
    }
    if (dice_.percent(4)) job["site_id"] = "site-" + std::to_string(dice_.below(2));
    if (dice_.percent(15)) job["delay_ms"] = 50 + dice_.below(1000);
    if (dice_.percent(15)) {
        List depends_on;
        for (int i = dice_.below(2); i >= 0; --i) {
            if (const auto earlier = stage_.recent_job(dice_)) depends_on.emplace_back(*earlier);
        }
        if (depends_on.size() == 2 && depends_on[0] == depends_on[1]) depends_on.pop_back();
        job["depends_on"] = std::move(depends_on);
        if (dice_.one_in(3)) job["on_dependency_failure"] = "run";
    }
}

Fields Client::new_job() {
    const std::string mark = fresh_mark();
    Fields job{{"type", "task"},
               {"queue", queue_name},
               {"correlation_id", mark},
               {"payload",
                Fields{{"mark", mark}, {"filler", std::string(dice_.one_in(20) ? 5000 : 10, 'x')}}},
               {"priority", dice_.below(5) - 2},
               {"max_attempts", 1 + dice_.below(4)},
               {"backoff", any_backoff(dice_)},
               {"timeout_ms", any_timeout(dice_)}};
    add_waits(job);
    return job;
}

Call Client::submit_call(const Fields& body, const std::string& key) const {
    Fields args{{"ref", body.at("correlation_id")}, {"body", body}};
    if (!key.empty()) args["key"] = key;
    return {.op = "submit",
            .args = std::move(args),
            .path = "/api/v1/jobs",
            .body = serialize(body),
            .key = key};
}

void Client::submit() {
    const Fields body = new_job();
    const bool has_key = dice_.percent(60);
    const std::string key = has_key ? "key-of-" + std::string(text(body, "correlation_id")) : "";
    const Call call = submit_call(body, key);
    // Without a key a repeated submit may make another job, which is what the client asked for.
    const Answer answer =
        has_key || dice_.one_in(2) ? caller_.until_known(call) : caller_.once(call);
    if (!answer.is_ok()) return;
    stage_.remember(text(answer.body, "id"));
    if (has_key) submit_again(body, key);
}

void Client::submit_again(const Fields& body, const std::string& key) {
    if (dice_.one_in(10)) caller_.once(submit_call(body, key));
    if (!dice_.one_in(15)) return;
    Fields other = body;
    other["priority"] = 7;
    caller_.once(submit_call(other, key));
}

void Client::cancel(const std::string& job) {
    caller_.until_known({.op = "cancel",
                         .args = {{"job", job}},
                         .path = "/api/v1/jobs/" + job + "/cancel",
                         .body = "{}"});
}

void Client::replay(const std::string& job) {
    const std::string key = "replay-" + fresh_mark();
    const Answer answer =
        caller_.until_known({.op = "replay",
                             .args = {{"job", job}, {"key", key}, {"body", Fields{}}},
                             .path = "/api/v1/jobs/" + job + "/replay",
                             .body = "{}",
                             .key = key});
    if (answer.is_ok()) stage_.remember(text(answer.body, "id"));
}

void Client::read(const std::string& job) {
    caller_.once(
        {.op = "read", .args = {{"job", job}}, .method = "GET", .path = "/api/v1/jobs/" + job});
}

void Client::read_logs(const std::string& job) {
    caller_.once({.op = "read_logs",
                  .args = {{"job", job}},
                  .method = "GET",
                  .path = "/api/v1/jobs/" + job + "/logs?limit=1000"});
}

}  // namespace

void Stage::remember(const std::string& job) {
    const std::lock_guard lock(mutex_);
    jobs_.push_back(job);
}

std::optional<std::string> Stage::any_job(Dice& dice) {
    // Half of the time one that probably still moves.
    if (dice.one_in(2)) return recent_job(dice);
    const std::lock_guard lock(mutex_);
    if (jobs_.empty()) return std::nullopt;
    return dice.pick(jobs_);
}

std::optional<std::string> Stage::recent_job(Dice& dice) {
    const std::lock_guard lock(mutex_);
    if (jobs_.empty()) return std::nullopt;
    const std::size_t among = std::min(jobs_.size(), recent_jobs);
    return jobs_[jobs_.size() - 1 - static_cast<std::size_t>(dice.below(static_cast<int>(among)))];
}

void act_as_client(Stage& stage, int number) {
    Client(stage, number).run();
}

}  // namespace sluice::nodes
