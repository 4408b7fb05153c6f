#include "infrastructure/commit/committer.hpp"

#include <utility>

#include "infrastructure/system/boot_clock.hpp"
#include "infrastructure/system/log.hpp"

namespace sluice {
namespace {

// In a larger batch all callers would wait for the slowest row.
constexpr std::size_t batch_rows_max = 4000;
constexpr std::size_t batch_bytes_max = 32 * 1024 * 1024;
// More than this means that the store cannot keep up; callers are refused before memory grows.
constexpr std::size_t waiting_rows_max = 200'000;
constexpr std::size_t waiting_bytes_max = 256 * 1024 * 1024;
// A commit that takes longer counts as stuck.
constexpr Duration commit_patience = std::chrono::seconds(2);

// Records that the thread sleeps, and until when.
class Sleep {
  public:
    Sleep(bool& sleeps, Timestamp& until, Timestamp due) : sleeps_(sleeps) {
        sleeps_ = true;
        until = due;
    }
    ~Sleep() { sleeps_ = false; }
    Sleep(const Sleep&) = delete;
    Sleep& operator=(const Sleep&) = delete;

  private:
    bool& sleeps_;
};

}  // namespace

Committer::Committer(Engine& engine, Clock& clock, Telemetry& telemetry, Deliver deliver,
                     Wakeups* wakeups)
    : engine_(engine),
      clock_(clock),
      telemetry_(telemetry),
      deliver_(std::move(deliver)),
      wakeups_(wakeups),
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
    add({}, {}, [&](Batch& batch) { batch.forgotten.push_back(ticket); });
}

void Committer::ask_ready(std::function<void(std::optional<Error>)> done) {
    if (std::optional<Error> reason = why_stuck()) return done(std::move(reason));
    CommandQueue::ask_ready(std::move(done));
}

std::optional<Error> Committer::why_stuck() {
    const std::lock_guard lock(mutex_);
    const bool is_stuck = commits_since_ && since_boot() - *commits_since_ > commit_patience;
    if (!is_stuck) return std::nullopt;
    return Error{ErrorCode::unavailable, "the store has not taken a commit for seconds", ""};
}

void Committer::hint(const std::vector<Readied>& readied, Timestamp due) {
    if (std::this_thread::get_id() == thread_.get_id()) return;  // it has stopped itself
    {
        const std::lock_guard lock(mutex_);
        if (sleeps_ && due >= sleeps_until_ && (readied.empty() || !claims_wait_)) return;
        append({}, [&](Batch& batch) {
            auto& known = batch.readied_elsewhere;
            known.insert(known.end(), readied.begin(), readied.end());
            batch.look_at = std::min(batch.look_at, due);
        });
    }
    arrived_.notify_one();
}

void Committer::stop_waiting() {
    {
        const std::lock_guard lock(mutex_);
        drain_ = true;
    }
    arrived_.notify_one();
}

bool Committer::add(Route, Load load, const std::function<void(Batch&)>& put) {
    bool was_empty = false;
    {
        const std::lock_guard lock(mutex_);
        const bool is_full =
            waiting_.rows > waiting_rows_max || waiting_.bytes + load.bytes > waiting_bytes_max;
        if (load.rows > 0 && is_full) return false;
        was_empty = incoming_.empty();
        append(load, put);
    }
    if (was_empty) arrived_.notify_one();
    return true;
}

void Committer::append(Load load, const std::function<void(Batch&)>& put) {
    const Load last = incoming_.empty() ? Load{} : incoming_.back().load;
    const bool is_too_much = last.rows > 0 && (last.rows + load.rows > batch_rows_max ||
                                               last.bytes + load.bytes > batch_bytes_max);
    if (incoming_.empty() || is_too_much) incoming_.emplace_back();
    put(incoming_.back().batch);
    incoming_.back().load.rows += load.rows;
    incoming_.back().load.bytes += load.bytes;
    waiting_.rows += load.rows;
    waiting_.bytes += load.bytes;
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
        commits_since_ = since_boot();
        lock.unlock();
        commit(std::move(batch));
        lock.lock();
        commits_since_.reset();
        if (last && incoming_.empty()) return;
    }
}

// Returns whether the thread is to stop once no command waits any more.
bool Committer::wait_for_work(std::unique_lock<std::mutex>& lock) {
    const bool drained = drain_ && engine_.waiting_claims() == 0;
    const auto has_work = [&] { return !incoming_.empty() || stop_ || (drain_ && !drained); };
    claims_wait_ = engine_.waiting_claims() > 0;
    while (!has_work()) {
        const Timestamp due = engine_.next_due();
        const Sleep sleep(sleeps_, sleeps_until_, due);
        if (due == never) {
            arrived_.wait(lock);
            continue;
        }
        const Duration left = due - clock_.now();
        if (left <= Duration{0}) break;
        // The clock is read again after an hour at the most, in case it and the condition's clock
        // differ.
        arrived_.wait_for(lock, std::min<Duration>(left, std::chrono::hours(1)));
    }
    return stop_;
}

Batch Committer::next_batch() {
    if (incoming_.empty() || engine_.wants_a_turn(clock_.now())) return {};
    Incoming next = std::move(incoming_.front());
    incoming_.pop_front();
    waiting_.rows -= next.load.rows;
    waiting_.bytes -= next.load.bytes;
    return std::move(next.batch);
}

// One line when the store stops answering and one when it answers again, not one for each batch.
void Committer::log_health(const std::string& failure) {
    if (failure.empty() == last_failure_.empty()) return;
    last_failure_ = failure;
    if (failure.empty()) return log::info("the store answers again");
    log::error("the store does not answer; requests get 503 until it does",
               log::field("error", failure));
}

void Committer::log_space(StoreSpace space) {
    if (std::exchange(last_space_, space) == space) return;
    switch (space) {
        case StoreSpace::ample:
            return log::info("the store's disk has space again, and jobs are taken again");
        case StoreSpace::reserve:
            return log::error(
                "the store's disk is full; its reserve is in use: jobs that run can end, "
                "submits and claims get 503 until there is room");
        case StoreSpace::full:
            return log::error("the store's disk is full, and its reserve is used up: make room");
    }
}

// One line for as long as a duty fails in the same way.
void Committer::log_duties(const std::vector<DutyRun>& runs) {
    for (const DutyRun& run : runs) {
        std::string& last = failed_duties_[run.duty];
        if (std::exchange(last, run.error) == run.error || run.error.empty()) continue;
        log::warn("a duty has failed; it is tried again",
                  log::field("duty", run.duty) + ',' + log::field("error", run.error));
    }
}

void Committer::commit(Batch batch) {
    auto answers = std::make_shared<Batch>(std::move(batch));
    const Timestamp start = clock_.now();
    Engine::Ran ran = engine_.run(*answers, start);
    ran.counts.took = clock_.now() - start;
    telemetry_.committed(ran.counts);
    log_health(ran.counts.failure);
    log_space(ran.counts.space);
    log_duties(ran.counts.duties);
    if (wakeups_) wakeups_->announce(ran.news);
    // Moved: unanswered commands must be dropped on the I/O thread.
    deliver_(std::move(answers), std::move(ran.touched));
}

}  // namespace sluice
