#include "infrastructure/committer.hpp"

#include "domain/json_text.hpp"
#include "infrastructure/log.hpp"

namespace sluice {
namespace {

// A batch of more rows would make everybody in it wait for the slowest.
constexpr std::size_t batch_rows_max = 4000;
// More than this means that the store cannot keep up; callers hear it before memory grows.
constexpr std::size_t waiting_rows_max = 200'000;

}  // namespace

Committer::Committer(Engine& engine, Clock& clock, Telemetry& telemetry, Deliver deliver)
    : engine_(engine),
      clock_(clock),
      telemetry_(telemetry),
      deliver_(std::move(deliver)),
      thread_([this] { run(); }) {}

Committer::~Committer() {
    {
        const std::lock_guard lock(mutex_);
        stop_ = drain_ = true;
    }
    arrived_.notify_one();
    thread_.join();
}

void Committer::forget(std::uint64_t ticket) {
    add(0, [&](Batch& batch) { batch.forgotten.push_back(ticket); });
}

void Committer::stop_waiting() {
    {
        const std::lock_guard lock(mutex_);
        drain_ = true;
    }
    arrived_.notify_one();
}

bool Committer::add(std::size_t rows, const std::function<void(Batch&)>& put) {
    bool was_empty = false;
    {
        const std::lock_guard lock(mutex_);
        if (rows > 0 && waiting_rows_ > waiting_rows_max) return false;
        was_empty = incoming_.empty();
        if (was_empty ||
            (incoming_.back().rows > 0 && incoming_.back().rows + rows > batch_rows_max)) {
            incoming_.emplace_back();
        }
        put(incoming_.back().batch);
        incoming_.back().rows += rows;
        waiting_rows_ += rows;
    }
    if (was_empty) arrived_.notify_one();
    return true;
}

void Committer::run() {
    std::unique_lock lock(mutex_);
    for (bool draining = false;;) {
        const bool stopping = wait_for_work(lock);
        if (drain_ && !draining) {
            engine_.stop_waiting();
            draining = true;
        }
        Batch batch = next_batch();
        const bool last = stopping && incoming_.empty();
        lock.unlock();
        commit(std::move(batch));
        lock.lock();
        if (last && incoming_.empty()) return;
    }
}

// Returns whether the thread is to stop once nothing waits any more.
bool Committer::wait_for_work(std::unique_lock<std::mutex>& lock) {
    const bool drained = drain_ && engine_.waiting_claims() == 0;
    const auto has_work = [&] { return !incoming_.empty() || stop_ || (drain_ && !drained); };
    while (!has_work()) {
        const Timestamp due = engine_.next_due();
        if (due == never) {
            arrived_.wait(lock);
            continue;
        }
        const Duration left = due - clock_.now();
        if (left <= Duration{0}) break;
        // The clock is asked again after an hour at the most, in case it and the condition's
        // differ.
        arrived_.wait_for(lock, std::min<Duration>(left, std::chrono::hours(1)));
    }
    return stop_;
}

Batch Committer::next_batch() {
    if (incoming_.empty()) return {};
    Incoming next = std::move(incoming_.front());
    incoming_.pop_front();
    waiting_rows_ -= next.rows;
    return std::move(next.batch);
}

// One line when the store stops answering and one when it answers again, not one for each batch.
void Committer::log_health(const std::string& failure) {
    if (failure.empty() == last_failure_.empty()) return;
    last_failure_ = failure;
    if (failure.empty()) return log::info("the store answers again");
    std::string fields = R"("error":)";
    append_json_string(fields, failure);
    log::error("the store does not answer; requests get 503 until it does", fields);
}

void Committer::commit(Batch batch) {
    auto answers = std::make_shared<Batch>(std::move(batch));
    const Timestamp start = clock_.now();
    Engine::Ran ran = engine_.run(*answers, start);
    ran.counts.took = clock_.now() - start;
    telemetry_.committed(ran.counts);
    log_health(ran.counts.failure);
    // Moved: what was not answered must be dropped on the I/O thread.
    deliver_(std::move(answers), std::move(ran.touched));
}

}  // namespace sluice
