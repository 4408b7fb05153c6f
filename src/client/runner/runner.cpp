#include "client/runner/runner.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <array>

#include "client/runner/ending.hpp"
#include "client/runner/runner_core.hpp"

namespace sluice::client {
namespace {

constexpr Millis claim_wait_max{10'000};
constexpr Millis claim_pause_max{5'000};
constexpr Millis lease_min{100};
constexpr int log_threads_max = 4;
constexpr int claim_max = 200;  // jobs, so that the largest ones fit into one answer
constexpr int unreported_min = 16;
constexpr Millis longest_time = std::chrono::hours(24 * 365);

[[noreturn]] void refuse(std::string message) {
    throw Error(ErrorKind::usage, 0, "", std::move(message));
}

// Limits durations so that they can be added to any moment.
RunnerOptions within_limits(RunnerOptions options) {
    for (Millis* time : {&options.lease, &options.shutdown_grace, &options.stop_patience}) {
        *time = std::clamp(*time, Millis{0}, longest_time);
    }
    return options;
}

// Whether claims are of no use from now on: the engine has understood the claim and refuses it.
bool is_final_refusal(const Error& error) {
    return !is_passing(error) || error.status() == 401 || error.status() == 403;
}

}  // namespace

Runner::Core::Core(Desk& desk, RunnerOptions options)
    : desk_(desk),
      options_(within_limits(std::move(options))),
      contact_(options_.on_notice),
      heart_(desk, live_, contact_, options_.lease),
      reporter_(desk, contact_, [this](const AttemptPtr& attempt) { done(attempt); }),
      logs_(desk, contact_, [this](const AttemptPtr& attempt) { finish(attempt); }) {}

void Runner::Core::check_options() const {
    if (options_.concurrency < 1 || options_.concurrency > concurrency_max) {
        refuse(fmt::format("a worker's concurrency must be 1 to {}, not {}", concurrency_max,
                           options_.concurrency));
    }
    if (options_.lease < lease_min) {
        refuse(fmt::format("a lease of {} ms is too short: take at least {} ms",
                           options_.lease.count(), lease_min.count()));
    }
    if (workers_.empty() && !any_worker_ && options_.types.empty()) {
        refuse("nothing is registered to run jobs: call handle() before run()");
    }
}

std::vector<std::string> Runner::Core::claimed_types() const {
    if (!options_.types.empty() || any_worker_) return options_.types;
    std::vector<std::string> types;
    for (const auto& [type, worker] : workers_) types.push_back(type);
    return types;
}

void Runner::Core::run() {
    check_options();
    slots_ = std::make_shared<Slots>(
        options_.concurrency,
        Slots::Work{.run = [self = shared_from_this()](
                               const AttemptPtr& attempt) { return self->execute(attempt); },
                    .ended = [self = shared_from_this()](
                                 const AttemptPtr& attempt,
                                 Ending ending) { self->ended(attempt, std::move(ending)); }});
    std::thread claims;
    try {
        slots_->open();
        heart_.start();
        reporter_.start();
        logs_.start(std::min(options_.concurrency, log_threads_max));
        claims = std::thread([this] { claim_until_stopped(); });
    } catch (...) {
        slots_->close();
        end_threads();
        throw;
    }

    watch();

    claims.join();
    end_threads();
    if (failure_) std::rethrow_exception(failure_);
}

void Runner::Core::end_threads() {
    slots_->join();
    logs_.stop();
    reporter_.stop();
    heart_.stop();
    slots_.reset();
}

void Runner::Core::stop(int urgency) {
    int before = urgency_.load();
    while (before < urgency && !urgency_.compare_exchange_weak(before, urgency)) {
    }
    alarm_.call();
}

// ── claims ──

void Runner::Core::claim_until_stopped() {
    ClaimRequest request{
        .worker_id = options_.worker_id.empty() ? default_worker_id() : options_.worker_id,
        .tenant = options_.tenant,
        .queues = options_.queues,
        .types = claimed_types(),
        .labels = options_.labels,
        .lease = options_.lease,
        .wait = std::min(claim_wait_max, options_.lease / 3)};
    RepeatPause pauses(claim_pause_max);
    // Attempts whose worker has returned hold results and log lines until these are sent.
    const int unreported_max = std::max(unreported_min, 2 * options_.concurrency);
    const auto most_live = static_cast<std::size_t>(options_.concurrency + unreported_max);
    while (const int free = slots_->wait_for_free()) {
        request.limit = std::min(free, claim_max);
        if (live_.size() > most_live || log_budget_.is_used_up()) {
            pause_claims(pauses.next());
            continue;
        }
        const BootTime sent = boot_now();
        try {
            std::vector<LeasedJob> jobs = desk_.claim(request);
            contact_.answered(EngineContact::claims);
            // An engine that is about to stop answers at once, with no jobs.
            const bool was_sent_away = jobs.empty() && boot_now() - sent < request.wait / 2;
            accept(std::move(jobs), sent);
            if (!was_sent_away) {
                pauses.reset();
                continue;
            }
            pause_claims(pauses.next());
        } catch (const Error& error) {
            if (stopping_) break;
            if (is_final_refusal(error)) {
                failure_ = std::current_exception();
                break;
            }
            contact_.failed(EngineContact::claims, error.what());
            pause_claims(pauses.next(error.retry_after()));
        }
    }
    claims_ended_ = true;
    stop(when_done);
}

void Runner::Core::accept(std::vector<LeasedJob> jobs, BootTime sent) {
    if (jobs.empty()) return;
    const Attempt::Moments moments{sent, boot_now(), options_.lease};
    std::vector<AttemptPtr> attempts;
    attempts.reserve(jobs.size());
    BootTime look_at = boot_never;
    for (LeasedJob& job : jobs) {
        attempts.push_back(std::make_shared<Attempt>(*this, std::move(job), moments));
        live_.add(attempts.back());
        look_at = std::min({look_at, attempts.back()->deadline(), attempts.back()->kept_until()});
    }
    if (!slots_->push(attempts)) {
        for (const AttemptPtr& attempt : attempts) hand_back_unstarted(attempt);
    }
    heart_.attempts_came();
    if (look_at < next_look_.load()) alarm_.call();
}

void Runner::Core::pause_claims(Millis time) {
    std::unique_lock lock(pause_mutex_);
    pause_ended_.wait_for(lock, time, [&] { return stopping_.load(); });
}

// ── the path of an attempt ──

void Runner::Core::hand_back_unstarted(const AttemptPtr& attempt) {
    attempt->has_returned();
    ended(attempt, {Ending::How::hand_back, {}});
}

Ending Runner::Core::execute(const AttemptPtr& attempt) {
    if (attempt->leased_until() <= boot_now()) {
        contact_.lease_lost(*attempt, "its lease was over before it could start");
    }
    if (stopping_ || attempt->is_over()) {
        attempt->has_returned();
        return {Ending::How::hand_back, {}};
    }
    const auto found = workers_.find(attempt->job().type);
    JobWorker* worker = found == workers_.end() ? any_worker_.get() : found->second.get();
    Returned returned = run_worker(worker, attempt->job(), *attempt);
    const StopReason reason = attempt->has_returned();
    return ending_of(std::move(returned), reason, attempt->job());
}

void Runner::Core::ended(const AttemptPtr& attempt, Ending ending) {
    if (attempt->is_over()) ending.how = Ending::How::drop;
    if (ending.how == Ending::How::drop) attempt->discard_lines();
    if (attempt->end(std::move(ending))) finish(attempt);
    if (stopping_) alarm_.call();
}

void Runner::Core::finish(const AttemptPtr& attempt) {
    if (attempt->ending().how == Ending::How::drop) return done(attempt);
    reporter_.push(attempt);
}

void Runner::Core::done(const AttemptPtr& attempt) {
    live_.remove(attempt);
    if (stopping_) alarm_.call();
}

// ── the runner ──

Runner::Runner(Desk& desk, RunnerOptions options)
    : core_(std::make_shared<Core>(desk, std::move(options))) {}
Runner::~Runner() = default;

void Runner::handle(std::string type, std::shared_ptr<JobWorker> worker) {
    core_->handle(std::move(type), std::move(worker));
}
void Runner::handle_any(std::shared_ptr<JobWorker> worker) {
    core_->handle_any(std::move(worker));
}

void Runner::run() {
    core_->run();
}
void Runner::stop() {
    core_->stop(1);
}
void Runner::stop_now() {
    core_->stop(2);
}

std::string default_worker_id() {
    std::array<char, 256> host{};
    if (::gethostname(host.data(), host.size() - 1) != 0 || host[0] == '\0') {
        return fmt::format("worker:{}", ::getpid());
    }
    return fmt::format("{}:{}", host.data(), ::getpid());
}

}  // namespace sluice::client
