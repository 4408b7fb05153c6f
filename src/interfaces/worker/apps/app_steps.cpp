#include <fmt/format.h>
#include <fmt/ranges.h>

#include <stdexcept>

#include "domain/values/sha256.hpp"
#include "interfaces/worker/apps/app_jobs.hpp"
#include "interfaces/worker/executors/payload.hpp"
#include "interfaces/worker/executors/stopped.hpp"
#include "json/json_reader.hpp"
#include "json/json_writer.hpp"

namespace sluice::worker {
namespace {

using client::Context;
using client::Job;
using client::Outcome;

constexpr std::size_t sha_digits = 40;

// The result that the real step would have. An assembly's head_sha depends on its changesets.
std::string simulated_result(const AppJob& kind, const SimulatedStep& step, const Job& job) {
    return json_object_text([&](JsonWriter& json) {
        if (kind.type == "release_assemble") {
            json.field("head_sha", to_hex(sha256(payload_text(job))).substr(0, sha_digits));
        } else if (kind.type == "revalidate_queued_changeset") {
            const std::string& usual = revalidation_outcomes().front();
            json.field("outcome", step.outcome.empty() ? usual : step.outcome);
        } else if (kind.type == "runtime_profile_drift_check") {
            json.raw_field("drift", "[]");
        } else if (kind.type == "temp_env_provision") {
            const Subject subject = subject_of(kind, job).value_or(Subject{});
            json.field("url", fmt::format("https://{}.temp.example.com", subject.id));
        }
        json.field("simulated", true);
    });
}

class SimulatedStepWorker : public client::JobWorker {
  public:
    SimulatedStepWorker(const AppJob& kind, SimulatedStep step)
        : kind_(kind), step_(std::move(step)) {}

    Outcome execute(const Job& job, Context& context) override {
        if (context.cancel().wait_for(step_.delay)) return stopped(context.cancel().reason());
        if (!step_.pass) {
            return Outcome::failed("SIMULATED_FAILURE",
                                   fmt::format("the {} was told to fail", kind_.work));
        }
        return Outcome::succeeded(simulated_result(kind_, step_, job));
    }

  private:
    const AppJob& kind_;
    const SimulatedStep step_;
};

// Members of a result that the engine acts upon.
struct StepResult {
    bool readable = true;
    std::optional<std::string> outcome{};
    std::vector<std::string> drift{};
};

StepResult read_result(const std::string& text) {
    StepResult result;
    JsonReader reader(text);
    if (reader.kind() != JsonReader::Kind::object) return result;
    reader.object([&](std::string_view key) {
        const JsonReader::Kind kind = reader.kind();
        if (key == "outcome" && !reader.null()) result.outcome = reader.raw();
        if (key != "drift" || kind == JsonReader::Kind::null) return;
        reader.array([&](std::size_t) { result.drift.emplace_back(reader.raw()); });
    });
    result.readable = static_cast<bool>(reader.finish());
    return result;
}

Outcome judge_revalidation(const Subject&, Outcome outcome) {
    const StepResult result = read_result(outcome.result);
    if (!result.readable) return unreadable_result();
    for (const std::string& known : revalidation_outcomes()) {
        if (!result.outcome || *result.outcome == '"' + known + '"') return outcome;
    }
    return Outcome::failed(
        "INVALID_RESULT",
        fmt::format("the outcome of a revalidation is one of {}; this one answered {}",
                    fmt::join(revalidation_outcomes(), ", "), *result.outcome),
        false);
}

Outcome judge_drift_check(const Subject& subject, Outcome outcome) {
    const StepResult result = read_result(outcome.result);
    if (!result.readable) return unreadable_result();
    if (result.drift.empty()) return outcome;
    return Outcome::failed(
        "DRIFT_FOUND",
        fmt::format("environment {} has drifted: {}", subject.id, fmt::join(result.drift, ", ")),
        false);
}

Judge judge_of(const AppJob& kind) {
    if (kind.type == "revalidate_queued_changeset") return judge_revalidation;
    if (kind.type == "runtime_profile_drift_check") return judge_drift_check;
    return [](const Subject&, Outcome outcome) { return outcome; };
}

}  // namespace

const std::vector<std::string>& revalidation_outcomes() {
    static const std::vector<std::string> outcomes{"clean", "conflicted", "needs_revalidation"};
    return outcomes;
}

std::vector<std::string> app_types() {
    return app_job_types(false);
}

std::shared_ptr<client::JobWorker> app_worker(const std::string& type, const AppExecutor& executor,
                                              const std::shared_ptr<Leash>& leash) {
    const AppJob* kind = find_app_job(type);
    if (kind == nullptr || kind->is_check) {
        throw std::invalid_argument(
            fmt::format("{} is none of {}", type, fmt::join(app_types(), ", ")));
    }
    auto doer = doer_of(executor.by, leash, [&](const SimulatedStep& step) {
        return std::make_shared<SimulatedStepWorker>(*kind, step);
    });
    return app_job_worker(*kind, std::move(doer), judge_of(*kind));
}

}  // namespace sluice::worker
