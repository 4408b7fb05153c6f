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
};

const AppJob* find_app_job(std::string_view type);
std::vector<std::string> app_job_types(bool checks);

// The id of what the job is about; nothing when the payload has none.
std::optional<std::string> subject_id(const AppJob& kind, const client::Job& job);

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

// What the result of a success means; the id is that of the subject.
using Judge = std::function<client::Outcome(const std::string& id, client::Outcome outcome)>;

// What a job ends with whose result cannot be read, so that nobody knows what it says.
client::Outcome unreadable_result();

// Checks the payload, tells the log, has the doer do it, and asks the judge about its success.
std::shared_ptr<client::JobWorker> app_job_worker(const AppJob& kind,
                                                  std::shared_ptr<client::JobWorker> doer,
                                                  Judge judge);

}  // namespace sluice::worker
