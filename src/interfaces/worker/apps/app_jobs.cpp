#include "interfaces/worker/apps/app_jobs.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "interfaces/worker/executors/payload.hpp"
#include "json/json_reader.hpp"
#include "json/json_writer.hpp"

namespace sluice::worker {
namespace {

using client::Context;
using client::Job;
using client::Outcome;

constexpr std::size_t payload_variable_bytes_max = 64 * 1024;

constexpr auto app_jobs = std::to_array<AppJob>({
    {"msuite_submit", "msuite submit validation", "validation", "changeset", "changeset_id", true},
    {"msuite_merge", "msuite merge validation", "validation", "release", "release_id", true,
     "changeset", "changeset_id"},
    {"msuite_deploy", "msuite deploy validation", "validation", "deployment", "deployment_id",
     true},
    {"release_assemble", "release assembly", "assembly", "release", "release_id"},
    {"deploy_release", "deployment", "deployment", "deployment", "deployment_id"},
    {"revalidate_queued_changeset", "revalidation", "revalidation", "changeset", "changeset_id"},
    {"runtime_profile_drift_check", "drift check", "drift check", "environment", "environment_id"},
    {"temp_env_provision", "provisioning", "provisioning", "temp environment",
     "temp_environment_id"},
    {"temp_env_expire", "expiry", "expiry", "temp environment", "temp_environment_id"},
});

// Variables about the job in addition to those of every command.
std::vector<std::pair<std::string, std::string>> app_environment(const Job& job) {
    std::vector<std::pair<std::string, std::string>> variables{{"SLUICE_APP_ID", job.project}};
    if (job.payload.size() <= payload_variable_bytes_max) {
        variables.emplace_back("SLUICE_PAYLOAD", payload_text(job));
    }
    return variables;
}

class AppJobWorker : public client::JobWorker {
  public:
    AppJobWorker(const AppJob& kind, std::shared_ptr<client::JobWorker> doer, Judge judge)
        : kind_(kind), doer_(std::move(doer)), judge_(std::move(judge)) {}

    Outcome execute(const Job& job, Context& context) override {
        context.log().info(fmt::format("starting {}", kind_.work));
        const std::optional<Subject> subject = subject_of(kind_, job);
        if (!subject) {
            return Outcome::failed("VALIDATION_ERROR",
                                   fmt::format("missing {} in payload", kind_.id_field), false);
        }
        const std::string data =
            json_object_text([&](JsonWriter& json) { json.field(subject->id_field, subject->id); });
        context.log().info(
            fmt::format("running {} for {} {}", kind_.act, subject->name, subject->id), data);

        Outcome outcome = doer_->execute(job, context);
        if (outcome.kind != Outcome::Kind::succeeded) return outcome;
        context.log().info(fmt::format("{} complete", kind_.work), outcome.result);
        return judge_(*subject, std::move(outcome));
    }

  private:
    const AppJob& kind_;
    const std::shared_ptr<client::JobWorker> doer_;
    const Judge judge_;
};

}  // namespace

const AppJob* find_app_job(std::string_view type) {
    const auto found = std::find_if(app_jobs.begin(), app_jobs.end(),
                                    [&](const AppJob& job) { return job.type == type; });
    return found == app_jobs.end() ? nullptr : &*found;
}

std::vector<std::string> app_job_types(bool checks) {
    std::vector<std::string> types;
    for (const AppJob& job : app_jobs) {
        if (job.is_check == checks) types.emplace_back(job.type);
    }
    return types;
}

std::optional<Subject> subject_of(const AppJob& kind, const Job& job) {
    std::string id, other;
    JsonReader reader(payload_text(job));
    reader.object([&](std::string_view key) {
        if (key == kind.id_field) id = reader.string();
        if (!key.empty() && key == kind.other_id_field) other = reader.string();
    });
    if (!reader.finish()) return std::nullopt;
    if (!id.empty()) return Subject{kind.subject, kind.id_field, std::move(id)};
    if (other.empty()) return std::nullopt;
    return Subject{kind.other_subject, kind.other_id_field, std::move(other)};
}

std::shared_ptr<client::JobWorker> app_command_worker(const CommandExecutor& executor,
                                                      const std::shared_ptr<Leash>& leash) {
    return command_worker(executor, leash, app_environment);
}

std::shared_ptr<client::JobWorker> app_job_worker(const AppJob& kind,
                                                  std::shared_ptr<client::JobWorker> doer,
                                                  Judge judge) {
    return std::make_shared<AppJobWorker>(kind, std::move(doer), std::move(judge));
}

Outcome unreadable_result() {
    return Outcome::failed("INVALID_RESULT", "the result cannot be read: a key or a text is wrong",
                           false);
}

}  // namespace sluice::worker
