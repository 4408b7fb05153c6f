#include "client/runner/runner.hpp"
#include "client/worker/http_desk.hpp"

namespace sluice::client {
namespace {

class HandlerWorker : public JobWorker {
  public:
    explicit HandlerWorker(Worker::Handler handler) : handler_(std::move(handler)) {}

    Outcome execute(const Job& job, Context& context) override { return handler_(job, context); }

  private:
    const Worker::Handler handler_;
};

RunnerOptions runner_options(WorkerOptions options) {
    return {.worker_id = std::move(options.worker_id),
            .tenant = std::move(options.connection.tenant),
            .queues = std::move(options.queues),
            .types = std::move(options.types),
            .labels = std::move(options.labels),
            .concurrency = options.concurrency,
            .lease = options.lease,
            .shutdown_grace = options.shutdown_grace,
            .stop_patience = options.stop_patience,
            .on_notice = std::move(options.on_notice)};
}

}  // namespace

class Worker::Parts {
  public:
    explicit Parts(WorkerOptions options)
        : desk(http_desk(options.connection)), runner(*desk, runner_options(std::move(options))) {}

    const std::unique_ptr<Desk> desk;
    Runner runner;
};

Worker::Worker(WorkerOptions options) : parts_(std::make_unique<Parts>(std::move(options))) {}
Worker::~Worker() = default;

void Worker::handle(std::string type, Handler handler) {
    handle(std::move(type), std::make_shared<HandlerWorker>(std::move(handler)));
}
void Worker::handle(std::string type, std::shared_ptr<JobWorker> worker) {
    parts_->runner.handle(std::move(type), std::move(worker));
}
void Worker::handle_any(std::shared_ptr<JobWorker> worker) {
    parts_->runner.handle_any(std::move(worker));
}

void Worker::run() {
    parts_->runner.run();
}
void Worker::stop() {
    parts_->runner.stop();
}
void Worker::stop_now() {
    parts_->runner.stop_now();
}

}  // namespace sluice::client
