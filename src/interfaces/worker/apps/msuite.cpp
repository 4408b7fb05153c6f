#include <fmt/format.h>

#include <optional>
#include <stdexcept>

#include "interfaces/worker/apps/app_jobs.hpp"
#include "interfaces/worker/executors/stopped.hpp"
#include "json/json_reader.hpp"
#include "json/json_writer.hpp"

namespace sluice::worker {
namespace {

using client::Context;
using client::Job;
using client::Outcome;

constexpr std::size_t failures_named_max = 20;

struct Verdict {
    bool readable = true;
    std::optional<bool> passed{};
    std::vector<std::string> failures{};
};

// A suite's verdict about itself: it has passed only by a plain true. A result of another form has
// no verdict.
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
    if (!reader.finish()) return {.readable = false};
    return verdict;
}

Outcome not_passed(const AppJob& check, const Subject& subject,
                   const std::vector<std::string>& failures) {
    const std::string_view verb = check.type.substr(std::string_view("msuite_").size());
    std::string message =
        fmt::format("msuite {} did not pass for {} {}", verb, subject.name, subject.id);
    for (std::size_t i = 0; i < failures.size() && i < failures_named_max; ++i) {
        message += (i == 0 ? ": " : ", ") + failures[i];
    }
    if (failures.size() > failures_named_max) {
        message += fmt::format(" and {} more", failures.size() - failures_named_max);
    }
    return Outcome::failed("MSUITE_FAILED", std::move(message));
}

std::string simulated_result(const SimulatedCheck& simulated) {
    return json_object_text([&](JsonWriter& json) {
        json.field("passed", simulated.pass);
        json.field("test_count", simulated.test_count);
        json.key("failures");
        json.begin_array();
        if (!simulated.pass) {
            for (const std::string& failure : simulated.failures) json.value(failure);
        }
        json.end_array();
        json.field("simulated", true);
    });
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

// A command tells its verdict by its exit code; a service must send it in its answer.
Judge verdict_of(const AppJob& check, bool may_be_silent) {
    return [&check, may_be_silent](const Subject& subject, Outcome outcome) {
        const Verdict verdict = read_verdict(outcome.result);
        if (!verdict.readable) return unreadable_result();
        if (!verdict.passed && !may_be_silent) {
            return Outcome::failed("INVALID_RESULT",
                                   "the msuite service answered without \"passed\": true or false",
                                   false);
        }
        if (verdict.passed == false) return not_passed(check, subject, verdict.failures);
        return outcome;
    };
}

}  // namespace

std::vector<std::string> msuite_types() {
    return app_job_types(true);
}

std::shared_ptr<client::JobWorker> msuite_worker(const std::string& type,
                                                 const MsuiteExecutor& executor,
                                                 const std::shared_ptr<Leash>& leash) {
    const AppJob* check = find_app_job(type);
    if (check == nullptr || !check->is_check) {
        throw std::invalid_argument("msuite knows no job type " + type +
                                    "; it checks msuite_submit, msuite_merge and msuite_deploy");
    }
    auto suite = doer_of(executor.by, leash, [](const SimulatedCheck& simulated) {
        return std::make_shared<SimulatedWorker>(simulated);
    });
    const bool is_command = std::holds_alternative<CommandExecutor>(executor.by);
    return app_job_worker(*check, std::move(suite), verdict_of(*check, is_command));
}

}  // namespace sluice::worker
