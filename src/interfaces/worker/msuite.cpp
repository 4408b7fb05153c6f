#include <fmt/format.h>

#include <array>
#include <optional>
#include <stdexcept>

#include "interfaces/worker/executor.hpp"
#include "interfaces/worker/payload.hpp"
#include "interfaces/worker/stopped.hpp"
#include "json/json_reader.hpp"
#include "json/json_writer.hpp"

namespace sluice::worker {
namespace {

using client::Context;
using client::Job;
using client::Outcome;

constexpr std::size_t payload_variable_bytes_max = 64 * 1024;
constexpr std::size_t failures_named_max = 20;

struct Check {
    std::string_view type{};
    std::string_view verb{};
    std::string_view subject{};
    std::string_view id_field{};
};

constexpr auto checks = std::to_array<Check>({
    {"msuite_submit", "submit", "changeset", "changeset_id"},
    {"msuite_merge", "merge", "release", "release_id"},
    {"msuite_deploy", "deploy", "deployment", "deployment_id"},
});

const Check& check_of(const std::string& type) {
    for (const Check& check : checks) {
        if (check.type == type) return check;
    }
    throw std::invalid_argument("msuite knows no job type " + type +
                                "; it checks msuite_submit, msuite_merge and msuite_deploy");
}

// The id of what is checked; nothing when the payload has none.
std::optional<std::string> subject_id(const Check& check, const Job& job) {
    std::string id;
    JsonReader reader(payload_text(job));
    reader.object([&](std::string_view key) {
        if (key == check.id_field) id = reader.string();
    });
    if (!reader.finish() || id.empty()) return std::nullopt;
    return id;
}

struct Verdict {
    std::optional<bool> passed{};
    std::vector<std::string> failures{};
};

// What a suite says about itself: that it passed only by a plain true. A result of another form
// says nothing.
Verdict read_verdict(const std::string& result) {
    if (result.empty()) return {};
    Verdict verdict;
    JsonReader reader(result);
    const auto read_failure = [&](std::size_t) {
        if (reader.kind() == JsonReader::Kind::string) {
            verdict.failures.push_back(reader.string());
        } else {
            verdict.failures.emplace_back(reader.raw());
        }
    };
    if (reader.kind() != JsonReader::Kind::object) return {};
    reader.object([&](std::string_view key) {
        if (key == "passed") verdict.passed = reader.raw() == "true";
        if (key == "failures" && reader.kind() == JsonReader::Kind::array) {
            reader.array(read_failure);
        }
    });
    if (!reader.finish()) return {};
    return verdict;
}

Outcome not_passed(const Check& check, const std::string& id,
                   const std::vector<std::string>& failures) {
    std::string message =
        fmt::format("msuite {} did not pass for {} {}", check.verb, check.subject, id);
    for (std::size_t i = 0; i < failures.size() && i < failures_named_max; ++i) {
        message += (i == 0 ? ": " : ", ") + failures[i];
    }
    if (failures.size() > failures_named_max) {
        message += fmt::format(" and {} more", failures.size() - failures_named_max);
    }
    return Outcome::failed("MSUITE_FAILED", std::move(message));
}

std::string simulated_result(const SimulatedCheck& simulated) {
    std::string result;
    JsonWriter json(result);
    json.begin_object();
    json.field("passed", simulated.pass);
    json.field("test_count", simulated.test_count);
    json.key("failures");
    json.begin_array();
    if (!simulated.pass) {
        for (const std::string& failure : simulated.failures) json.value(failure);
    }
    json.end_array();
    json.field("simulated", true);
    json.end_object();
    return result;
}

// What a command learns of the job beside what every command does.
std::vector<std::pair<std::string, std::string>> app_environment(const Job& job) {
    std::vector<std::pair<std::string, std::string>> variables{{"SLUICE_APP_ID", job.project}};
    if (job.payload.size() <= payload_variable_bytes_max) {
        variables.emplace_back("SLUICE_PAYLOAD", payload_text(job));
    }
    return variables;
}

class SimulatedWorker : public client::JobWorker {
  public:
    explicit SimulatedWorker(SimulatedCheck simulated) : simulated_(std::move(simulated)) {}

    Outcome execute(const Job&, Context& context) override {
        if (context.cancel().wait_for(simulated_.delay)) {
            return stopped(context.cancel().reason());
        }
        return Outcome::succeeded(simulated_result(simulated_));
    }

  private:
    const SimulatedCheck simulated_;
};

std::shared_ptr<client::JobWorker> suite_of(const MsuiteExecutor& executor,
                                            const std::shared_ptr<Leash>& leash) {
    if (const auto* command = std::get_if<CommandExecutor>(&executor.by)) {
        return command_worker(*command, leash, app_environment);
    }
    if (const auto* http = std::get_if<HttpExecutor>(&executor.by)) return http_worker(*http);
    return std::make_shared<SimulatedWorker>(std::get<SimulatedCheck>(executor.by));
}

// Checks the payload, has the suite run, and reads its verdict.
class MsuiteWorker : public client::JobWorker {
  public:
    // A command says with its exit code how it went; a service must say it in its answer.
    MsuiteWorker(const Check& check, std::shared_ptr<client::JobWorker> suite, bool may_be_silent)
        : check_(check), suite_(std::move(suite)), may_be_silent_(may_be_silent) {}

    Outcome execute(const Job& job, Context& context) override {
        context.log().info(fmt::format("starting msuite {} validation", check_.verb));
        const std::optional<std::string> id = subject_id(check_, job);
        if (!id) {
            return Outcome::failed("VALIDATION_ERROR",
                                   fmt::format("missing {} in payload", check_.id_field), false);
        }
        std::string data;
        JsonWriter json(data);
        json.begin_object();
        json.field(check_.id_field, *id);
        json.end_object();
        context.log().info(fmt::format("running validation for {} {}", check_.subject, *id), data);

        Outcome outcome = suite_->execute(job, context);
        if (outcome.kind != Outcome::Kind::succeeded) return outcome;

        const Verdict verdict = read_verdict(outcome.result);
        if (!verdict.passed && !may_be_silent_) {
            return Outcome::failed("INVALID_RESULT",
                                   "the msuite service answered without \"passed\": true or false",
                                   false);
        }
        context.log().info(fmt::format("msuite {} validation complete", check_.verb),
                           outcome.result);
        if (verdict.passed == false) return not_passed(check_, *id, verdict.failures);
        return outcome;
    }

  private:
    const Check& check_;
    const std::shared_ptr<client::JobWorker> suite_;
    const bool may_be_silent_;
};

}  // namespace

std::vector<std::string> msuite_types() {
    std::vector<std::string> types;
    for (const Check& check : checks) types.emplace_back(check.type);
    return types;
}

std::shared_ptr<client::JobWorker> msuite_worker(const std::string& type, MsuiteExecutor executor,
                                                 const std::shared_ptr<Leash>& leash) {
    const bool is_command = std::holds_alternative<CommandExecutor>(executor.by);
    return std::make_shared<MsuiteWorker>(check_of(type), suite_of(executor, leash), is_command);
}

}  // namespace sluice::worker
