#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "interfaces/worker/executor.hpp"

// What msuite's checks and the other jobs of apps have in common.
namespace sluice::worker {

struct AppJob {
    std::string_view type{};
    std::string_view work{};      // as its log calls it
    std::string_view act{};       // what is done to the subject
    std::string_view subject{};   // what it is about
    std::string_view id_field{};  // where the payload names that
    bool is_check = false;        // one of msuite's
    // Another subject that the job can be about, when the payload does not name the subject.
    std::string_view other_subject{};
    std::string_view other_id_field{};
};

const AppJob* find_app_job(std::string_view type);
std::vector<std::string> app_job_types(bool checks);

// What the job is about; nothing when the payload does not say.
struct Subject {
    std::string_view name{};
    std::string_view id_field{};
    std::string id{};
};
std::optional<Subject> subject_of(const AppJob& kind, const client::Job& job);

// Runs the command with what the job is about in its environment.
std::shared_ptr<client::JobWorker> app_command_worker(const CommandExecutor& executor,
                                                      const std::shared_ptr<Leash>& leash);

// What does the job: the command, the service, or what `pretend` makes of the simulation.
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

// What the result of a success means.
using Judge = std::function<client::Outcome(const Subject& subject, client::Outcome outcome)>;

// What a job ends with whose result cannot be read, so that nobody knows what it says.
client::Outcome unreadable_result();

// Checks the payload, tells the log, has the doer do it, and asks the judge about its success.
std::shared_ptr<client::JobWorker> app_job_worker(const AppJob& kind,
                                                  std::shared_ptr<client::JobWorker> doer,
                                                  Judge judge);

}  // namespace sluice::worker
