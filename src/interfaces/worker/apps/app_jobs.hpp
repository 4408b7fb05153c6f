#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "interfaces/worker/executors/executor.hpp"

// Shared by msuite's checks and the other jobs of apps.
namespace sluice::worker {

struct AppJob {
    std::string_view type{};
    std::string_view work{};      // its name in the log
    std::string_view act{};       // the verb for the subject
    std::string_view subject{};   // the kind of the subject
    std::string_view id_field{};  // the field of the payload with the subject's id
    bool is_check = false;        // one of msuite's
    // Another subject that the job can be about, when the payload does not name the subject.
    std::string_view other_subject{};
    std::string_view other_id_field{};
};

const AppJob* find_app_job(std::string_view type);
std::vector<std::string> app_job_types(bool checks);

// The subject of the job; nothing when the payload does not name it.
struct Subject {
    std::string_view name{};
    std::string_view id_field{};
    std::string id{};
};
std::optional<Subject> subject_of(const AppJob& kind, const client::Job& job);

// Runs the command with the job's subject in its environment.
std::shared_ptr<client::JobWorker> app_command_worker(const CommandExecutor& executor,
                                                      const std::shared_ptr<Leash>& leash);

// The worker of the job: the command, the service, or the simulation that `pretend` makes.
template <class Simulated, class Pretend>
std::shared_ptr<client::JobWorker> doer_of(
    const std::variant<Simulated, CommandExecutor, HttpExecutor>& by,
    const std::shared_ptr<Leash>& leash, Pretend pretend) {
    if (const auto* command = std::get_if<CommandExecutor>(&by)) {
        return app_command_worker(*command, leash);
    }
    if (const auto* http = std::get_if<HttpExecutor>(&by)) return http_worker(*http);
    return pretend(std::get<Simulated>(by));
}

// Judges the result of a success.
using Judge = std::function<client::Outcome(const Subject& subject, client::Outcome outcome)>;

// The outcome of a job whose result cannot be read.
client::Outcome unreadable_result();

// Checks the payload, writes to the log, has the worker do the job, and asks the judge about its
// success.
std::shared_ptr<client::JobWorker> app_job_worker(const AppJob& kind,
                                                  std::shared_ptr<client::JobWorker> doer,
                                                  Judge judge);

}  // namespace sluice::worker
