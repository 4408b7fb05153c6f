#include "interfaces/cli/jobs/job_watcher.hpp"

#include <chrono>

namespace sluice::cli {
namespace {

using namespace std::chrono_literals;

client::Options asking_options(client::Options options) {
    options.patience = 0ms;
    return options;
}

}  // namespace

JobWatcher::JobWatcher(const client::Options& options, std::string id)
    : client_(asking_options(options)), id_(std::move(id)), thread_([this] { run(); }) {}

JobWatcher::~JobWatcher() {
    {
        const std::lock_guard lock(mutex_);
        stopping_ = true;
    }
    changed_.notify_all();
    client_.interrupt();
    thread_.join();
}

void JobWatcher::state_changed(client::State state) {
    const std::lock_guard lock(mutex_);
    state_ = state;
    seen_ = {};
    look_now_ = true;
    changed_.notify_all();
}

JobWatcher::Seen JobWatcher::seen() const {
    const std::lock_guard lock(mutex_);
    return seen_;
}

void JobWatcher::run() {
    std::unique_lock lock(mutex_);
    while (!stopping_) {
        look_now_ = false;
        const client::State state = state_;
        lock.unlock();
        try {
            look(state);
        } catch (const client::Error&) {
            // The stream reports the engine's problem, if it stays.
        }
        lock.lock();
        const auto period = state == client::State::running ? 300ms : 1000ms;
        changed_.wait_for(lock, period, [&] { return stopping_ || look_now_; });
    }
}

void JobWatcher::look(client::State state) {
    if (client::is_final(state)) return;
    Seen seen;
    const client::Job job = client_.get(id_);
    if (job.state != state) return;  // the stream will report the new state
    seen.progress = job.progress;
    seen.message = job.message;
    seen.worker = job.locked_by;
    if (state == client::State::queued) {
        const client::Explanation explanation = client_.explain(id_);
        if (!explanation.reasons.empty()) {
            const client::Reason& first = explanation.reasons.front();
            seen.waiting_for = first.detail;
            // This detail says which worker asked last, and how many seconds ago.
            seen.reason = first.code == "workers_busy" ? first.code : first.detail;
        }
    }
    const std::lock_guard lock(mutex_);
    if (state_ == state && !look_now_) seen_ = std::move(seen);
}

}  // namespace sluice::cli
