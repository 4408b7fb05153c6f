// Runs a command per job. docs/workers.md describes its input and how its end is judged.
#include <fcntl.h>
#include <signal.h>
#include <string.h>

#include <atomic>
#include <cerrno>
#include <system_error>

#include "interfaces/worker/executors/command_output.hpp"
#include "interfaces/worker/executors/executor.hpp"
#include "interfaces/worker/executors/payload.hpp"
#include "interfaces/worker/executors/private_folder.hpp"
#include "interfaces/worker/executors/stopped.hpp"
#include "interfaces/worker/leash/descriptor.hpp"
#include "json/json_reader.hpp"

namespace sluice::worker {
namespace {

using client::Outcome;

// Exit codes with a meaning, from sysexits.h.
constexpr int exit_bad_data = 65;

std::string joined(const std::vector<std::string>& words) {
    std::string all;
    for (const std::string& word : words) {
        if (!all.empty()) all += ',';
        all += word;
    }
    return all;
}

void add_job(Variables& variables, const client::Job& job) {
    const auto add = [&](const char* name, std::string value) {
        variables.emplace_back(name, std::move(value));
    };
    add("SLUICE_JOB_ID", job.id);
    add("SLUICE_JOB_TYPE", job.type);
    add("SLUICE_QUEUE", job.queue);
    add("SLUICE_TENANT", job.tenant);
    add("SLUICE_PROJECT", job.project);
    add("SLUICE_ATTEMPT", std::to_string(job.attempt));
    add("SLUICE_MAX_ATTEMPTS", std::to_string(job.max_attempts));
    add("SLUICE_ENTITY_TYPE", job.entity_type);
    add("SLUICE_ENTITY_ID", job.entity_id);
    add("SLUICE_SITE_ID", job.site_id);
    add("SLUICE_NODE_ID", job.node_id);
    add("SLUICE_CORRELATION_ID", job.correlation_id);
    add("SLUICE_LABELS", joined(job.labels));
    add("SLUICE_PRIORITY", std::to_string(job.priority));
    add("SLUICE_TIMEOUT_MS", std::to_string(job.timeout.count()));
}

// A job's payload as a file, for as long as the command runs.
class PayloadFile {
  public:
    PayloadFile(const PrivateFolder& folder, const std::string& name, std::string_view payload)
        : path_(folder.write(name, payload)), input_(::open(path_.c_str(), O_RDONLY | O_CLOEXEC)) {
        if (input_) return;
        const int error = errno;
        ::unlink(path_.c_str());
        throw std::system_error(error, std::system_category(), "cannot open " + path_.string());
    }
    ~PayloadFile() { ::unlink(path_.c_str()); }
    PayloadFile(const PayloadFile&) = delete;
    PayloadFile& operator=(const PayloadFile&) = delete;

    const std::filesystem::path& path() const { return path_; }
    int input() const { return input_.get(); }

  private:
    std::filesystem::path path_;
    Descriptor input_;
};

bool is_blank(std::string_view text) {
    return text.find_first_not_of(" \t\r\n") == std::string_view::npos;
}

Outcome success(const Ended& ended, const CommandOutput& output) {
    if (ended.result_too_large) {
        return Outcome::failed("RESULT_TOO_LARGE",
                               "the command wrote more than 256 KiB of result to descriptor 3",
                               false);
    }
    if (is_blank(ended.result)) return Outcome::succeeded(output.result().value_or(""));
    JsonReader reader(ended.result);
    const std::string_view json = reader.raw();
    const auto done = reader.finish();
    if (done) return Outcome::succeeded(std::string(json));
    return Outcome::failed(
        "INVALID_RESULT",
        "what the command wrote to descriptor 3 is not one JSON value: " + done.error().message,
        false);
}

// Adds details of the failure that an exit code cannot tell: a JSON object on descriptor 3.
void explain(Outcome& failure, const std::string& result) {
    JsonReader reader(result);
    if (reader.kind() != JsonReader::Kind::object) return;
    Outcome said = failure;
    bool has_message = false;
    reader.object([&](std::string_view key) {
        const auto kind = reader.kind();
        const bool is_text = kind == JsonReader::Kind::string;
        if (is_text && key == "message") {
            if (std::string text = reader.string(); !text.empty()) {
                said.error_message = std::move(text);
                has_message = true;
            }
        } else if (is_text && key == "error") {
            std::string text = reader.string();
            if (!has_message && !text.empty()) said.error_message = std::move(text);
        } else if (is_text && key == "error_code") {
            if (std::string code = reader.string(); !code.empty())
                said.error_code = std::move(code);
        } else if (kind == JsonReader::Kind::boolean && key == "retryable") {
            said.retryable = reader.boolean();
        }
    });
    if (reader.finish()) failure = std::move(said);
}

std::string message_of(const CommandOutput& output, std::string otherwise) {
    const std::string_view ending = output.ending();
    return is_blank(ending) ? std::move(otherwise) : std::string(ending);
}

Outcome failure(const Ended& ended, const CommandOutput& output) {
    const Exit& exit = ended.exit;
    if (exit.signal != 0) {
        const char* const known = ::sigabbrev_np(exit.signal);
        const std::string name = known != nullptr ? known : std::to_string(exit.signal);
        Outcome outcome = Outcome::failed(
            "SIGNAL_" + name, message_of(output, "the command was ended by signal " + name));
        explain(outcome, ended.result);
        return outcome;
    }
    const std::string code = std::to_string(exit.code);
    Outcome outcome =
        Outcome::failed("EXIT_" + code, message_of(output, "the command ended with code " + code),
                        exit.code != exit_bad_data);
    explain(outcome, ended.result);
    return outcome;
}

Outcome outcome_of(const Ended& ended, const CommandOutput& output) {
    const Exit& exit = ended.exit;
    if (auto outcome = outcome_without_own_end(ended)) return *std::move(outcome);
    if (exit.signal == 0 && exit.code == 0) return success(ended, output);
    return failure(ended, output);
}

class CommandWorker : public client::JobWorker {
  public:
    CommandWorker(CommandExecutor executor, std::shared_ptr<Leash> leash, JobEnvironment more)
        : executor_(std::move(executor)), leash_(std::move(leash)), more_(std::move(more)) {}

    Outcome execute(const client::Job& job, client::Context& context) override {
        const PayloadFile payload(folder_, job.id + "-" + std::to_string(++executions_) + ".json",
                                  payload_text(job));
        Command command{.argv = executor_.argv,
                        .environment = executor_.environment.all(),
                        .directory = executor_.directory,
                        .input = payload.input()};
        add_job(command.environment, job);
        command.environment.emplace_back("SLUICE_LEASE_ID", context.lease_id());
        command.environment.emplace_back("SLUICE_PAYLOAD_FILE", payload.path().string());
        command.environment.emplace_back("SLUICE_RESULT_FD", "3");
        if (more_) {
            for (auto& variable : more_(job)) command.environment.push_back(std::move(variable));
        }

        CommandOutput output(context);
        const Supervision supervision{
            .stop_grace = executor_.stop_grace,
            .takes_result = true,
            .on_line = [&output](const OutputLine& line) { output.take(line); },
        };
        return outcome_of(supervise(*leash_, std::move(command), context, supervision), output);
    }

  private:
    CommandExecutor executor_;
    std::shared_ptr<Leash> leash_;
    JobEnvironment more_;
    PrivateFolder folder_{"work"};
    std::atomic<std::uint64_t> executions_ = 0;
};

}  // namespace

std::shared_ptr<client::JobWorker> command_worker(CommandExecutor executor,
                                                  std::shared_ptr<Leash> leash,
                                                  JobEnvironment more_environment) {
    return std::make_shared<CommandWorker>(std::move(executor), std::move(leash),
                                           std::move(more_environment));
}

}  // namespace sluice::worker
