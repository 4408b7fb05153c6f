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

class Client {
  public:
    Client(Stage& stage, int number)
        : stage_(stage),
          caller_(stage.nodes, stage.record, "client-" + std::to_string(number),
                  stage.seed * 1000 + static_cast<std::uint64_t>(number), tenant_of(number)),
          dice_(caller_.dice),
          twin_(number / static_cast<int>(tenants.size())) {
        caller_.set_patience(stage.patience);
    }

    void run() {
        submit_batch(30 + dice_.below(30));  // more than workers can take at once
        while (stage_.phase == Phase::chaos) {
            step();
            std::this_thread::sleep_for(Millis(10 + dice_.below(80)));
        }
    }

  private:
    void step() {
        const int what = dice_.below(100);
        if (what < 52) return submit();
        if (what < 56) return submit_batch(2 + dice_.below(3));
        // Of the other tenant now and then: the answer must be that there is no such job.
        const auto job = dice_.one_in(25) ? stage_.foreign_job(dice_, caller_.tenant())
                                          : stage_.any_job(dice_, caller_.tenant());
        if (!job) return;
        if (what < 68) return cancel(*job);
        if (what < 72) return replay(*job);
        if (what < 79) return read_logs(*job);
        if (what < 85) return follow(*job);
        read(*job);
    }

    void submit();
    Call submit_call(const Fields& body, const std::string& key) const;
    void submit_again(const Fields& body, const std::string& key);
    void submit_batch(int count);
    void cancel(const std::string& job);
    void replay(const std::string& job);
    void read(const std::string& job);
    void read_logs(const std::string& job);
    void follow(const std::string& job);

    std::string fresh_mark() { return caller_.name() + "-" + std::to_string(++marks_); }
    // The clients of the other tenant use the same keys.
    std::string fresh_key() {
        return "key-" + std::to_string(twin_) + "-" + std::to_string(marks_);
    }
    std::string path_of(const std::string& job, const std::string& what) const {
        return "/api/v1/jobs/" + job + what + "?tenant=" + caller_.tenant();
    }

    Stage& stage_;
    Caller caller_;
    Dice& dice_;
    int twin_;
    int marks_ = 0;
};

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
    const Fields body = new_job(stage_, dice_, caller_.tenant(), fresh_mark());
    const bool has_key = stage_.always_keyed || dice_.percent(60);
    const std::string key = has_key ? fresh_key() : "";
    const Call call = submit_call(body, key);
    // Without a key a repeated submit may make another job, which is what the client asked for.
    const Answer answer =
        has_key || dice_.one_in(2) ? caller_.until_known(call) : caller_.once(call);
    if (!answer.is_ok()) return;
    stage_.remember(text(answer.body, "id"), caller_.tenant());
    if (has_key) submit_again(body, key);
}

void Client::submit_again(const Fields& body, const std::string& key) {
    if (dice_.one_in(10)) caller_.once(submit_call(body, key));
    if (!dice_.one_in(15)) return;
    Fields other = body;
    other["priority"] = 7;
    caller_.once(submit_call(other, key));
}

// Some jobs wait for the one before them; in a small circle, now and then, which is refused.
void Client::submit_batch(int count) {
    const bool is_circle = count < 5 && dice_.one_in(4);
    List bodies;
    for (int i = 0; i < count; ++i) {
        Fields body = new_job(stage_, dice_, caller_.tenant(), fresh_mark());
        const int before = i == 0 ? count - 1 : i - 1;
        const bool waits = is_circle || (i > 0 && dice_.one_in(count < 5 ? 2 : 10));
        if (waits) body["depends_on"] = List{Json("#" + std::to_string(before))};
        bodies.emplace_back(std::move(body));
    }
    const std::string key = fresh_key();
    const Answer answer = caller_.until_known({.op = "batch",
                                               .args = {{"key", key}, {"bodies", bodies}},
                                               .path = "/api/v1/jobs/batch",
                                               .body = serialize(Fields{{"jobs", bodies}}),
                                               .key = key});
    if (!answer.is_ok()) return;
    for (const Json& job : e2e::list(answer.body, "jobs")) {
        stage_.remember(text(job, "id"), caller_.tenant());
    }
}

void Client::cancel(const std::string& job) {
    caller_.until_known(
        {.op = "cancel", .args = {{"job", job}}, .path = path_of(job, "/cancel"), .body = "{}"});
}

void Client::replay(const std::string& job) {
    fresh_mark();
    const std::string key = "replay-" + fresh_key();
    const Answer answer =
        caller_.until_known({.op = "replay",
                             .args = {{"job", job}, {"key", key}, {"body", Fields{}}},
                             .path = path_of(job, "/replay"),
                             .body = "{}",
                             .key = key});
    if (answer.is_ok()) stage_.remember(text(answer.body, "id"), caller_.tenant());
}

void Client::read(const std::string& job) {
    caller_.once({.op = "read", .args = {{"job", job}}, .method = "GET", .path = path_of(job, "")});
}

void Client::read_logs(const std::string& job) {
    caller_.once({.op = "read_logs",
                  .args = {{"job", job}},
                  .method = "GET",
                  .path = path_of(job, "/logs") + "&limit=1000"});
}

// In pieces, as a client whose connection breaks.
void Client::follow(const std::string& job) {
    std::int64_t last = 0;
    for (int piece = dice_.below(3); piece >= 0; --piece) {
        last = caller_.follow(job, path_of(job, "/stream"), last, Millis(30 + dice_.below(700)));
    }
    // From somewhere in the middle, too.
    if (last > 1) {
        const std::int64_t middle = 1 + dice_.below(static_cast<int>(last) - 1);
        caller_.follow(job, path_of(job, "/stream"), middle, Millis(30));
    }
}

}  // namespace

void act_as_client(Stage& stage, int number) {
    Client(stage, number).run();
}

}  // namespace sluice::nodes
