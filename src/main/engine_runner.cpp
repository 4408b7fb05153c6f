#include "main/engine_runner.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "infrastructure/system/log.hpp"
#include "interfaces/worker/engine/node_records.hpp"

namespace sluice {
namespace {

void log_notice(client::Level level, const std::string& text) {
    if (level == client::Level::info) return log::info(text);
    if (level == client::Level::warn) return log::warn(text);
    log::error(text);
}

client::Millis millis(Duration duration) {
    return std::chrono::duration_cast<client::Millis>(duration);
}

// A command that was told to stop has its time of grace for it.
client::Millis longest_stop(const Config& config) {
    client::Millis longest{0};
    const auto look = [&](const auto& executor) {
        if constexpr (requires { executor.stop_grace; }) {
            longest = std::max(longest, executor.stop_grace);
        }
    };
    for (const auto& [type, executor] : config.executors) {
        std::visit(look, executor);
        if (const auto* msuite = std::get_if<worker::MsuiteExecutor>(&executor)) {
            std::visit(look, msuite->by);
        }
        if (const auto* app = std::get_if<worker::AppExecutor>(&executor)) {
            std::visit(look, app->by);
        }
    }
    return longest;
}

// The beginning of the names of this engine's runners: of this one, and of all before it.
std::string name_stem(const Config& config) {
    return config.runner.name.empty() ? fmt::format("engine-{}@", config.node) : config.runner.name;
}

client::RunnerOptions options_of(const Config& config) {
    constexpr client::Millis usual_patience{10'000}, margin{2'000};
    const std::string unique =
        config.runner.name.empty() ? client::default_worker_id() : std::string();
    return {.worker_id = name_stem(config) + unique,
            .tenant = "",
            .queues = config.runner.queues,
            .types = config.runner.types,
            .labels = config.runner.labels,
            .concurrency = config.runner.concurrency,
            .lease = millis(std::min(config.runner.lease, config.max_lease)),
            .shutdown_grace = millis(config.runner.shutdown_grace),
            .stop_patience = std::max(usual_patience, longest_stop(config) + margin),
            .on_notice = log_notice};
}

}  // namespace

bool runs_jobs(const Config& config) {
    return !config.executors.empty() || !config.runner.types.empty();
}

std::vector<Report> reports_for_the_dead(JobReader& reader, const Config& config) {
    constexpr int page = 200;
    const std::string stem = name_stem(config);
    const auto is_own = [&](const std::string& worker) {
        return config.runner.name.empty() ? worker.starts_with(stem) : worker == stem;
    };
    std::vector<Report> reports;
    JobId before = newest;
    for (;;) {
        const auto jobs = reader.list({.tenant = "", .states = {JobState::running}}, before, page);
        for (const Job& job : jobs) {
            before = job.spec->id;
            if (!is_own(job.lease->worker_id)) continue;
            reports.push_back(
                {.lease = {job.spec->id, job.lease->token},
                 .outcome = Outcome::failed,
                 .error_code = "ENGINE_DIED",
                 .error_message = "the engine that ran the job ended without notice"});
        }
        if (jobs.size() < page) return reports;
    }
}

EngineRunner::EngineRunner(const Config& config, CommandQueue& commands, QueryQueue& queries,
                           Clock& clock, const worker::OnIoThread& on_io_thread)
    : changes_(worker::engine_desk(commands, clock, on_io_thread)),
      runner_(*changes_, options_of(config)) {
    const worker::FindNode find_node = worker::node_records(queries, on_io_thread);
    std::shared_ptr<worker::Leash> leash;
    for (const auto& [type, executor] : config.executors) {
        if (!leash && worker::needs_leash(executor)) leash = std::make_shared<worker::Leash>();
        runner_.handle(type, worker::make_worker(type, executor, leash, find_node));
    }
}

EngineRunner::~EngineRunner() {
    stop();
    if (thread_.joinable()) thread_.join();
}

void EngineRunner::start(std::function<void()> ended) {
    thread_ = std::thread([this, ended = std::move(ended)] {
        try {
            runner_.run();
        } catch (...) {
            failure_ = std::current_exception();
        }
        ended();
    });
}

void EngineRunner::stop() {
    runner_.stop();
}

void EngineRunner::check() {
    if (thread_.joinable()) thread_.join();
    if (failure_) std::rethrow_exception(failure_);
}

}  // namespace sluice
