#pragma once

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "domain/values/result.hpp"
#include "interfaces/worker/leash/command_environment.hpp"
#include "interfaces/worker/leash/leash.hpp"
#include "sluice/worker.hpp"

// The executors that the configuration can bind a job type to.
namespace sluice::worker {

using client::Millis;

// The configuration's additions to the environment of commands. A variable that is set wins over
// one that is passed on.
struct EnvironmentChoice {
    Variables set{};
    Variables passed{};                        // from this process's own environment
    std::vector<std::string> names_to_pass{};  // asked for by the configuration

    Variables all() const {
        Variables variables = passed;
        variables.insert(variables.end(), set.begin(), set.end());
        return variables;
    }
};

// Runs a command per job, as docs/workers.md says.
struct CommandExecutor {
    std::vector<std::string> argv{};
    std::string directory{};
    EnvironmentChoice environment{};
    Millis stop_grace{5'000};  // between SIGTERM and SIGKILL
};

// Calls a URL with the job and takes the answer as the result.
struct HttpExecutor {
    std::string url{};
    std::string method = "POST";
    std::vector<std::pair<std::string, std::string>> headers{};
    Millis timeout{30'000};
    bool allow_private_addresses = false;
    int redirects_max = 5;
    std::string ca_file{};
};

// The connection settings of a node.
struct AnsibleNode {
    std::string hostname{};
    int port = 22;
    std::string user{};
    std::string key_file{};
    std::string connection{};  // e.g. "local"; empty: ssh
};

// Looks up the node of a job that the configuration does not have. May block.
using FindNode = std::function<Result<AnsibleNode>(const client::Job&)>;

// Runs a playbook for the job's node.
struct AnsibleExecutor {
    std::string playbook{};
    std::string program = "ansible-playbook";
    std::map<std::string, AnsibleNode> nodes{};  // by node_id
    Millis timeout{0};  // of the run itself, in addition to the job's deadline; zero: none
    std::string directory{};
    EnvironmentChoice environment{};
    Millis stop_grace{5'000};
};

// A simulated check.
struct SimulatedCheck {
    bool pass = true;
    Millis delay{0};
    int test_count = 0;
    std::vector<std::string> failures{};  // names of the tests that fail, when `pass` is false
};

// The three msuite checks: simulated, or a command, or a service.
struct MsuiteExecutor {
    std::variant<SimulatedCheck, CommandExecutor, HttpExecutor> by{};
};

// A simulated step of an app's flow.
struct SimulatedStep {
    bool pass = true;
    Millis delay{0};
    std::string outcome{};  // of a revalidation, one of revalidation_outcomes(); empty: the first
};

// The jobs of apps that are no checks, from release_assemble to temp_env_expire: simulated, or a
// command, or a service.
struct AppExecutor {
    std::variant<SimulatedStep, CommandExecutor, HttpExecutor> by{};
};

// demo.hello, demo.slow, demo.flaky.
struct DemoExecutor {};

using Executor = std::variant<CommandExecutor, HttpExecutor, AnsibleExecutor, MsuiteExecutor,
                              AppExecutor, DemoExecutor>;

// The worker for the executor. `type` is the job type that it is bound to.
std::shared_ptr<client::JobWorker> make_worker(const std::string& type, const Executor& executor,
                                               const std::shared_ptr<Leash>& leash,
                                               FindNode find_node = {});

// Whether an executor starts processes, so that it needs a leash.
bool needs_leash(const Executor& executor);

// Each of these is in a file of its own: run_command.cpp, call_http.cpp, run_ansible.cpp, …
//
// `more_environment` adds variables for each job, which win over those of the executor.
using JobEnvironment =
    std::function<std::vector<std::pair<std::string, std::string>>(const client::Job&)>;
std::shared_ptr<client::JobWorker> command_worker(CommandExecutor executor,
                                                  std::shared_ptr<Leash> leash,
                                                  JobEnvironment more_environment = {});
std::shared_ptr<client::JobWorker> http_worker(HttpExecutor executor);
std::shared_ptr<client::JobWorker> ansible_worker(AnsibleExecutor executor,
                                                  std::shared_ptr<Leash> leash,
                                                  FindNode find_node = {});
std::shared_ptr<client::JobWorker> msuite_worker(const std::string& type,
                                                 const MsuiteExecutor& executor,
                                                 const std::shared_ptr<Leash>& leash);
std::shared_ptr<client::JobWorker> app_worker(const std::string& type, const AppExecutor& executor,
                                              const std::shared_ptr<Leash>& leash);
std::shared_ptr<client::JobWorker> demo_worker(const std::string& type);

// The job types that the last three know. They throw std::invalid_argument for others.
std::vector<std::string> msuite_types();
std::vector<std::string> app_types();
std::vector<std::string> demo_types();

// The possible outcomes of a revalidation of a changeset.
const std::vector<std::string>& revalidation_outcomes();

}  // namespace sluice::worker
