#pragma once

#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "sluice/client.hpp"
#include "sluice/export.hpp"

namespace sluice::client {

// How an attempt ended, as the worker reports it.
struct Outcome {
    enum class Kind { succeeded, failed, canceled, timed_out };
    Kind kind = Kind::succeeded;
    std::string result{};  // JSON; empty: none
    std::string error_code{};
    std::string error_message{};
    bool retryable = true;  // of a failure

    static Outcome succeeded(std::string result = {}) {
        return {Kind::succeeded, std::move(result), {}, {}, true};
    }
    static Outcome failed(std::string code, std::string message, bool retryable = true) {
        return {Kind::failed, {}, std::move(code), std::move(message), retryable};
    }
    static Outcome canceled(std::string message = {}) {
        return {Kind::canceled, {}, {}, std::move(message), false};
    }
    static Outcome timed_out(std::string message = {}) {
        return {Kind::timed_out, {}, {}, std::move(message), false};
    }
};

// Why a job should stop.
enum class StopReason {
    none,
    canceled,    // the job was canceled
    deadline,    // the attempt has used up its time
    lease_lost,  // another worker may have the job: stop at once, no result counts
    shutdown,    // this worker stops; jobs that stop now are handed back
};

// Tells a running job to stop. Safe to use from any thread.
class SLUICE_EXPORT CancelToken {
  public:
    CancelToken();
    ~CancelToken();
    CancelToken(const CancelToken&) = delete;
    CancelToken& operator=(const CancelToken&) = delete;

    bool requested() const { return reason() != StopReason::none; }
    StopReason reason() const;

    // Sleeps this long, or until the job should stop; returns whether it should.
    bool wait_for(Millis time) const;

    // Becomes readable when the job should stop; for poll(2). Never read from it.
    int descriptor() const;

    // The first reason stays, except that a lost lease replaces any other.
    void request(StopReason reason);

  private:
    class Shared;
    std::unique_ptr<Shared> shared_;
};

// Writes a job's log. Calls return at once; lines are sent in order, in batches, and all before the
// report. When the engine takes no lines for long and many wait, a call blocks until it does, or
// until the job should stop.
class SLUICE_EXPORT Logger {
  public:
    virtual ~Logger() = default;

    void info(std::string_view message, std::string_view data = {}) {
        write(Level::info, message, data);
    }
    void warn(std::string_view message, std::string_view data = {}) {
        write(Level::warn, message, data);
    }
    void error(std::string_view message, std::string_view data = {}) {
        write(Level::error, message, data);
    }

    // `data` is JSON, or empty.
    virtual void write(Level level, std::string_view message, std::string_view data) = 0;
};

// The context of a worker while it runs one job.
class SLUICE_EXPORT Context {
  public:
    virtual ~Context() = default;

    virtual Logger& log() = 0;
    virtual const CancelToken& cancel() const = 0;

    // Shown to people who watch the job; percent 0..100. Sent with the next heartbeat.
    virtual void progress(int percent, std::string_view message = {}) = 0;

    // Identifies this attempt to the services that it calls, so that they can refuse older ones.
    virtual const std::string& lease_id() const = 0;

    // The moment, on CLOCK_BOOTTIME, until which this worker is sure to hold the lease. It grows
    // with every heartbeat that the engine answers.
    virtual std::chrono::nanoseconds leased_until() const = 0;

    // Calls `changed` on another thread whenever leased_until() has grown, until the job ends.
    virtual void on_renewal(std::function<void(std::chrono::nanoseconds)> changed) = 0;
};

// Does the work of a job type. One object serves all jobs of its type, several at once.
class SLUICE_EXPORT JobWorker {
  public:
    virtual ~JobWorker() = default;

    // Runs the job to its end, and returns how it ended. An exception is a failure that is retried.
    // When context.cancel() is requested, it should return soon; its outcome is then reported only
    // if it still matters.
    virtual Outcome execute(const Job& job, Context& context) = 0;
};

inline constexpr int concurrency_max = 1000;  // jobs of one worker at once

struct WorkerOptions {
    Options connection{};
    std::string worker_id{};            // empty: host name and process id
    std::vector<std::string> queues{};  // empty: any
    std::vector<std::string> types{};   // empty: those with a handler; any, if there is one for all
    std::vector<std::string> labels{};  // what this worker has
    int concurrency = 1;                // jobs at once
    Millis lease{30'000};
    Millis shutdown_grace{30'000};  // for running jobs to finish; then they have to stop
    Millis stop_patience{10'000};   // for jobs to stop; then run() leaves them to their leases
    // Called on any thread with messages for an operator, e.g. that the engine is away.
    std::function<void(Level, const std::string&)> on_notice{};
};

// Claims jobs and runs them.
//
//     sluice::client::Worker worker({.queues = {"mail"}, .concurrency = 8});
//     worker.handle("send_mail", [](const Job& job, Context& context) {
//         context.log().info("sending");
//         return Outcome::succeeded(R"({"sent":1})");
//     });
//     worker.run();
//
// Leases are renewed in the background. When the engine is away, the worker waits for it, and jobs
// that run go on as long as their leases are sure to last; a finished result is sent until it
// is taken or the lease has run out.
class SLUICE_EXPORT Worker {
  public:
    using Handler = std::function<Outcome(const Job&, Context&)>;

    explicit Worker(WorkerOptions options);
    ~Worker();
    Worker(const Worker&) = delete;
    Worker& operator=(const Worker&) = delete;

    // Before run(). A job of a type that has no handler fails: "no worker registered for job type".
    void handle(std::string type, Handler handler);
    void handle(std::string type, std::shared_ptr<JobWorker> worker);
    void handle_any(std::shared_ptr<JobWorker> worker);  // for every other type

    // Claims and runs jobs until stop() is called and all running jobs have ended or were told to
    // stop. Throws Error when the options are invalid, or the engine refuses to give this worker
    // jobs; running jobs may finish first. Once.
    void run();

    // Lets run() end: no more claims; running jobs may finish within shutdown_grace, are then told
    // to stop, and jobs that stop are handed back. From any thread, and from a signal handler.
    void stop();

    // The same without waiting for jobs to finish. Also after stop().
    void stop_now();

  private:
    class Parts;
    std::unique_ptr<Parts> parts_;
};

}  // namespace sluice::client
