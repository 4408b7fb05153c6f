#pragma once

#include <algorithm>
#include <atomic>
#include <exception>
#include <future>
#include <thread>

#include "client/runner/runner.hpp"
#include "interfaces/worker/engine/engine_desk.hpp"
#include "support/running_engine.hpp"

// A runner on an engine in the same process, both in real time.
namespace sluice::worker {

using client::Context;
using client::Level;
using client::Millis;
using client::StopReason;

// A desk whose calls can be made to fail before they are sent, or after they were answered.
class FaultyDesk : public client::Desk {
  public:
    explicit FaultyDesk(client::Desk& desk) : desk_(desk) {}

    std::atomic<bool> is_away = false;
    std::atomic<bool> loses_answers = false;
    std::atomic<bool> holds_logs = false;  // is away for log lines only
    std::atomic<bool> has_no_room_for_logs = false;
    std::atomic<bool> refuses_reports = false;
    std::atomic<bool> refuses_results = false;  // reports with a result
    std::atomic<int> claims = 0;
    std::atomic<int> most_claimed = 0;  // jobs that one claim asked for
    std::atomic<int> heartbeats = 0;
    std::atomic<int> log_calls = 0;
    std::atomic<int> report_calls = 0;
    std::atomic<int> reports = 0;

    std::vector<client::LeasedJob> claim(const client::ClaimRequest& request) override {
        ++claims;
        most_claimed = std::max(most_claimed.load(), request.limit);
        if (is_away) throw_away();
        return desk_.claim(request);
    }
    std::vector<client::LeaseAnswer> heartbeat(
        std::span<const client::HeartbeatRequest> requests) override {
        ++heartbeats;
        return answer([&] { return desk_.heartbeat(requests); });
    }
    client::LeaseAnswer append_logs(const std::string& lease_id,
                                    std::span<const client::LogEntry> entries) override {
        ++log_calls;
        if (holds_logs) throw_away();
        if (has_no_room_for_logs) {
            throw client::Error(client::ErrorKind::unavailable, 503, "store_full", "no room");
        }
        return answer([&] { return desk_.append_logs(lease_id, entries); });
    }
    std::vector<client::LeaseAnswer> report(
        std::span<const client::ReportRequest> requests) override {
        ++report_calls;
        reports += static_cast<int>(requests.size());
        const auto has_result = [](const auto& one) { return !one.outcome.result.empty(); };
        if (refuses_reports ||
            (refuses_results && std::any_of(requests.begin(), requests.end(), has_result))) {
            throw client::Error(client::ErrorKind::refused, 413, "too_large", "too much");
        }
        return answer([&] { return desk_.report(requests); });
    }
    client::LeaseAnswer release(const std::string& lease_id, const std::string& reason) override {
        return answer([&] { return desk_.release(lease_id, reason); });
    }
    void stop_waiting() override { desk_.stop_waiting(); }

  private:
    [[noreturn]] static void throw_away() {
        throw client::Error(client::ErrorKind::unreachable, 0, "", "connection refused");
    }
    template <class Call>
    std::invoke_result_t<Call> answer(Call call) {
        if (is_away) throw_away();
        auto answered = call();
        if (loses_answers) throw_away();
        return answered;
    }

    client::Desk& desk_;
};

class FunctionWorker : public client::JobWorker {
  public:
    using Function = std::function<client::Outcome(const client::Job&, Context&)>;
    explicit FunctionWorker(Function function) : function_(std::move(function)) {}
    client::Outcome execute(const client::Job& job, Context& context) override {
        return function_(job, context);
    }

  private:
    Function function_;
};

// Runs until it is stopped, at the latest by the destructor.
class RunningRunner {
  public:
    explicit RunningRunner(RunningEngine& engine, client::RunnerOptions options = {})
        : real_desk_(engine_desk(
              engine.commands(), engine.clock(),
              [&engine](std::function<void()> task) { engine.on_io_thread(std::move(task)); })),
          desk(*real_desk_),
          runner_(desk, with_notices(std::move(options))) {}
    ~RunningRunner() {
        if (!thread_.joinable()) return;
        runner_.stop_now();
        thread_.join();
    }

    void handle(const std::string& type, FunctionWorker::Function function) {
        runner_.handle(type, std::make_shared<FunctionWorker>(std::move(function)));
    }
    void handle_any(FunctionWorker::Function function) {
        runner_.handle_any(std::make_shared<FunctionWorker>(std::move(function)));
    }

    void start() {
        thread_ = std::thread([this] {
            try {
                runner_.run();
            } catch (...) {
                failure_ = std::current_exception();
            }
            has_ended = true;
        });
    }
    void stop() { runner_.stop(); }
    void stop_now() { runner_.stop_now(); }
    // Waits for run() to return; throws its exception.
    void join() {
        thread_.join();
        if (failure_) std::rethrow_exception(failure_);
    }

    // Whether a notice with this text came.
    int notices(const std::string& text) {
        const std::lock_guard lock(mutex_);
        int count = 0;
        for (const std::string& notice : notices_) {
            count += notice.find(text) != std::string::npos ? 1 : 0;
        }
        return count;
    }

  private:
    client::RunnerOptions with_notices(client::RunnerOptions options) {
        if (options.worker_id.empty()) options.worker_id = "test-worker";
        options.on_notice = [this](Level, const std::string& notice) {
            const std::lock_guard lock(mutex_);
            notices_.push_back(notice);
        };
        return options;
    }

    std::unique_ptr<client::Desk> real_desk_;
    std::mutex mutex_;
    std::vector<std::string> notices_;

  public:
    FaultyDesk desk;
    std::atomic<bool> has_ended = false;

  private:
    client::Runner runner_;
    std::exception_ptr failure_;
    std::thread thread_;
};

// Sleeps until the job is told to stop, and returns why.
inline StopReason wait_for_stop(const Context& context, Millis at_most = Millis(10'000)) {
    context.cancel().wait_for(at_most);
    return context.cancel().reason();
}

}  // namespace sluice::worker
