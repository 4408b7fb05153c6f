#include "interfaces/worker/engine/discreet_worker.hpp"

namespace sluice::worker {
namespace {

class DiscreetLogger : public client::Logger {
  public:
    DiscreetLogger(client::Logger& logger, const Redactor& redactor)
        : logger_(logger), redactor_(redactor) {}

    void write(client::Level level, std::string_view message, std::string_view data) override {
        std::string clean_message(message), clean_data(data);
        redactor_.clean(clean_message);
        redactor_.clean_json(clean_data);
        logger_.write(level, clean_message, clean_data);
    }

  private:
    client::Logger& logger_;
    const Redactor& redactor_;
};

class DiscreetContext : public client::Context {
  public:
    DiscreetContext(client::Context& context, const Redactor& redactor)
        : context_(context), redactor_(redactor), logger_(context.log(), redactor) {}

    client::Logger& log() override { return logger_; }
    const client::CancelToken& cancel() const override { return context_.cancel(); }
    void progress(int percent, std::string_view message) override {
        std::string clean(message);
        redactor_.clean(clean);
        context_.progress(percent, clean);
    }
    const std::string& lease_id() const override { return context_.lease_id(); }
    std::chrono::nanoseconds leased_until() const override { return context_.leased_until(); }
    void on_renewal(std::function<void(std::chrono::nanoseconds)> changed) override {
        context_.on_renewal(std::move(changed));
    }

  private:
    client::Context& context_;
    const Redactor& redactor_;
    DiscreetLogger logger_;
};

class DiscreetWorker : public client::JobWorker {
  public:
    DiscreetWorker(std::shared_ptr<client::JobWorker> worker, Redactor redactor)
        : worker_(std::move(worker)), redactor_(std::move(redactor)) {}

    client::Outcome execute(const client::Job& job, client::Context& context) override {
        DiscreetContext discreet(context, redactor_);
        client::Outcome outcome = worker_->execute(job, discreet);
        redactor_.clean_json(outcome.result);
        redactor_.clean(outcome.error_code);
        redactor_.clean(outcome.error_message);
        return outcome;
    }

  private:
    const std::shared_ptr<client::JobWorker> worker_;
    const Redactor redactor_;
};

}  // namespace

std::shared_ptr<client::JobWorker> discreet_worker(std::shared_ptr<client::JobWorker> worker,
                                                   Redactor redactor) {
    if (redactor.is_idle()) return worker;
    return std::make_shared<DiscreetWorker>(std::move(worker), std::move(redactor));
}

}  // namespace sluice::worker
