#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdint>

#include "domain/values/json_text.hpp"
#include "interfaces/worker/executors/executor.hpp"
#include "interfaces/worker/executors/payload.hpp"
#include "interfaces/worker/executors/stopped.hpp"
#include "json/json_reader.hpp"

namespace sluice::worker {
namespace {

using client::Context;
using client::Job;
using client::Outcome;

struct DemoPayload {
    std::string name = "world";
    std::int64_t seconds = 10;
    std::int64_t fail_times = 2;
};

Result<DemoPayload> read_payload(std::string_view text) {
    DemoPayload payload;
    JsonReader reader(text);
    if (!reader.null()) {
        reader.object([&](std::string_view key) {
            if (key == "name") payload.name = reader.string();
            if (key == "seconds") payload.seconds = reader.integer(0, 3600);
            if (key == "fail_times") payload.fail_times = reader.integer(0, 1000);
        });
    }
    if (const auto done = reader.finish(); !done) return done.error();
    return payload;
}

Outcome say_hello(const DemoPayload& payload, Context& context) {
    constexpr std::array steps{"waking up", "finding the right words", "clearing the throat"};
    int percent = 0;
    for (const char* step : steps) {
        context.log().info(step);
        context.progress(percent, step);
        percent += 30;
        if (context.cancel().wait_for(Millis{300})) return stopped(context.cancel().reason());
    }
    const std::string greeting = "Hello, " + payload.name + "!";
    context.log().info(greeting);
    context.progress(100, "done");
    std::string result = R"({"greeting":)";
    append_json_string(result, greeting);
    return Outcome::succeeded(result + "}");
}

Outcome take_long(const DemoPayload& payload, Context& context) {
    const std::int64_t steps = std::clamp<std::int64_t>(payload.seconds, 1, 100);
    for (std::int64_t step = 1; step <= steps; ++step) {
        const std::string text = fmt::format("step {} of {}", step, steps);
        context.log().info(text);
        context.progress(static_cast<int>((step - 1) * 100 / steps), text);
        const Millis pause{payload.seconds * 1000 / steps};
        if (context.cancel().wait_for(pause)) {
            context.log().warn("told to stop");
            return stopped(context.cancel().reason());
        }
    }
    context.progress(100, "done");
    return Outcome::succeeded(fmt::format(R"({{"seconds":{}}})", payload.seconds));
}

Outcome fail_at_first(const DemoPayload& payload, const Job& job, Context& context) {
    if (job.attempt > payload.fail_times) {
        context.log().info(fmt::format("attempt {} succeeds", job.attempt));
        return Outcome::succeeded(fmt::format(R"({{"attempts":{}}})", job.attempt));
    }
    if (job.max_attempts <= payload.fail_times) {
        context.log().warn(
            fmt::format("this job has {} attempts and fails {} times; with max_attempts {} it "
                        "would succeed in the end",
                        job.max_attempts, payload.fail_times, payload.fail_times + 1));
    }
    return Outcome::failed(
        "DEMO_FLAKY", fmt::format("attempt {} fails on purpose, as do the first {} of this job",
                                  job.attempt, payload.fail_times));
}

class DemoWorker : public client::JobWorker {
  public:
    explicit DemoWorker(std::string type) : type_(std::move(type)) {}

    Outcome execute(const Job& job, Context& context) override {
        const Result<DemoPayload> payload = read_payload(payload_text(job));
        if (!payload) return invalid_payload(payload.error());
        if (type_ == "demo.hello") return say_hello(*payload, context);
        if (type_ == "demo.slow") return take_long(*payload, context);
        if (type_ == "demo.flaky") return fail_at_first(*payload, job, context);
        return Outcome::failed("NO_WORKER", "no worker registered for job type " + type_, false);
    }

  private:
    std::string type_;
};

}  // namespace

std::vector<std::string> demo_types() {
    return {"demo.hello", "demo.slow", "demo.flaky"};
}

std::shared_ptr<client::JobWorker> demo_worker(const std::string& type) {
    return std::make_shared<DemoWorker>(type);
}

}  // namespace sluice::worker
