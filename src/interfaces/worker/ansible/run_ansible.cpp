// Runs a playbook per job, for the job's node: writes the files for Ansible into a folder of its
// own, runs ansible-playbook, and judges its exit code. Nothing of the payload ever stands in the
// arguments.
#include <fmt/format.h>

#include <array>

#include "domain/values/duration_text.hpp"
#include "interfaces/worker/ansible/ansible_files.hpp"
#include "interfaces/worker/ansible/ansible_output.hpp"
#include "interfaces/worker/executors/executor.hpp"
#include "interfaces/worker/executors/payload.hpp"
#include "interfaces/worker/executors/private_folder.hpp"
#include "interfaces/worker/executors/stopped.hpp"
#include "interfaces/worker/executors/supervised.hpp"

namespace sluice::worker {
namespace {

using client::Context;
using client::Job;
using client::Outcome;

struct ExitMeaning {
    int exit = 0;
    const char* error_code = "";
    bool retryable = false;
};

constexpr auto exit_meanings = std::to_array<ExitMeaning>({
    {1, "ANSIBLE_PLAY_ERROR", true},
    {2, "ANSIBLE_HOST_FAILED", true},
    {4, "ANSIBLE_HOST_UNREACHABLE", true},
    {5, "ANSIBLE_SYNTAX_ERROR", false},
    {250, "ANSIBLE_UNEXPECTED_ERROR", false},
});

ExitMeaning meaning_of(const Exit& exit) {
    for (const ExitMeaning& meaning : exit_meanings) {
        if (exit.signal == 0 && meaning.exit == exit.code) return meaning;
    }
    return {exit.code, "ANSIBLE_UNKNOWN_EXIT", false};
}

std::string how_it_ended(const Exit& exit) {
    if (exit.signal != 0) return fmt::format("it was ended by signal {}", exit.signal);
    return fmt::format("it ended with code {}", exit.code);
}

class AnsibleWorker : public client::JobWorker {
  public:
    AnsibleWorker(AnsibleExecutor executor, std::shared_ptr<Leash> leash, FindNode find_node)
        : executor_(std::move(executor)),
          leash_(std::move(leash)),
          find_node_(std::move(find_node)) {}

    Outcome execute(const Job& job, Context& context) override {
        if (job.node_id.empty()) {
            return Outcome::failed(
                "NODE_REQUIRED",
                "the job has no node_id, so there is no host to run " + executor_.playbook + " on",
                false);
        }
        const Result<AnsibleNode> node = node_of(job);
        if (!node) return no_node(node.error());
        const Result<std::string> variables = ansible_variables(job);
        if (!variables) return invalid_payload(variables.error());

        const std::string host = ansible_host_name(job.node_id);
        AnsibleOutput output(context, host);
        const PrivateFolder folder("ansible");
        const Ended ended = run(folder, ansible_inventory(host, *node), *variables, context,
                                [&](const OutputLine& line) { output.take(line); });
        return outcome_of(ended, output);
    }

  private:
    // A node of the configuration comes first: it is the operator's own.
    Result<AnsibleNode> node_of(const Job& job) const {
        const auto configured = executor_.nodes.find(job.node_id);
        if (configured != executor_.nodes.end()) return configured->second;
        if (find_node_) return find_node_(job);
        return Error{ErrorCode::not_found,
                     fmt::format("the configuration has no node \"{}\"; it has {}", job.node_id,
                                 known_nodes()),
                     ""};
    }

    static Outcome no_node(const Error& error) {
        const bool is_passing = error.code == ErrorCode::unavailable;
        return Outcome::failed(is_passing ? "NODE_LOOKUP_FAILED" : "NODE_UNKNOWN", error.message,
                               is_passing);
    }

    Ended run(const PrivateFolder& folder, const std::string& inventory,
              const std::string& variables, Context& context,
              std::function<void(const OutputLine&)> on_line) const {
        const std::string inventory_file = folder.write("inventory.json", inventory);
        const std::string variables_file = folder.write("variables.json", variables);
        Command command{.argv = {executor_.program, "-i", inventory_file, "-e",
                                 "@" + variables_file, executor_.playbook},
                        .environment = executor_.environment.all(),
                        .directory = executor_.directory};
        for (const auto& [name, value] :
             Variables{{"ANSIBLE_NOCOLOR", "1"},
                       {"ANSIBLE_FORCE_COLOR", "0"},
                       {"ANSIBLE_RETRY_FILES_ENABLED", "0"},
                       {"ANSIBLE_LOCAL_TEMP", (folder.path() / "tmp").string()}}) {
            command.environment.emplace_back(name, value);
        }
        context.log().info(fmt::format("running {} {}", executor_.program, executor_.playbook));
        return supervise(*leash_, std::move(command), context,
                         {.stop_grace = executor_.stop_grace,
                          .limit = executor_.timeout,
                          .on_line = std::move(on_line)});
    }

    Outcome outcome_of(const Ended& ended, const AnsibleOutput& output) const {
        const Exit& exit = ended.exit;
        if (auto outcome = outcome_without_own_end(ended)) return *std::move(outcome);
        if (ended.limit_reached) {
            return Outcome::failed(
                "ANSIBLE_TIMEOUT",
                output.ending() + "ended after its limit of " + duration_text(executor_.timeout));
        }
        if (exit.signal == 0 && exit.code == 0) return Outcome::succeeded(output.result());
        const ExitMeaning meaning = meaning_of(exit);
        std::string text = output.ending();
        return Outcome::failed(meaning.error_code, text.empty() ? how_it_ended(exit) : text,
                               meaning.retryable);
    }

    std::string known_nodes() const {
        if (executor_.nodes.empty()) return "none";
        std::string all;
        for (const auto& [name, node] : executor_.nodes) {
            if (all.size() > 500) return all + ", …";
            all += (all.empty() ? "" : ", ") + name;
        }
        return all;
    }

    const AnsibleExecutor executor_;
    const std::shared_ptr<Leash> leash_;  // shared with all other workers that start commands
    const FindNode find_node_;
};

}  // namespace

std::shared_ptr<client::JobWorker> ansible_worker(AnsibleExecutor executor,
                                                  std::shared_ptr<Leash> leash,
                                                  FindNode find_node) {
    return std::make_shared<AnsibleWorker>(std::move(executor), std::move(leash),
                                           std::move(find_node));
}

}  // namespace sluice::worker
