#include "support/running_engine.hpp"

#include <stdexcept>

#include "infrastructure/memory/memory_store.hpp"

namespace sluice {
namespace {

constexpr int page = 100'000;

template <class Item>
typename AnswersTo<Item>::value_type ask(RunningEngine& engine, Item item) {
    std::promise<typename AnswersTo<Item>::value_type> answer;
    engine.on_io_thread([&] {
        engine.commands().post_one<Item>(
            std::move(item), [&](auto answered) { answer.set_value(std::move(answered)); });
    });
    auto answered = answer.get_future().get();
    if (!answered) throw std::runtime_error(answered.error().message);
    return answered;
}

}  // namespace

TaskThread::TaskThread() : thread_([this] { run(); }) {}

TaskThread::~TaskThread() {
    {
        const std::lock_guard lock(mutex_);
        stop_ = true;
    }
    posted_.notify_one();
    thread_.join();
}

void TaskThread::post(std::function<void()> task) {
    {
        const std::lock_guard lock(mutex_);
        tasks_.push_back(std::move(task));
    }
    posted_.notify_one();
}

void TaskThread::run() {
    std::unique_lock lock(mutex_);
    for (;;) {
        posted_.wait(lock, [&] { return !tasks_.empty() || stop_; });
        if (tasks_.empty()) return;
        std::function<void()> task = std::move(tasks_.front());
        tasks_.pop_front();
        lock.unlock();
        task();
        task = nullptr;
        lock.lock();
    }
}

RunningEngine::RunningEngine() : RunningEngine(*new MemoryStore) {
    own_.reset(&store_);
}

RunningEngine::RunningEngine(Store& store)
    : store_(store),
      engine_(store, {}),
      committer_(engine_, clock_, counter_,
                 [this](std::shared_ptr<Batch> answers, const std::vector<JobId>&) {
                     tasks_.post([answers = std::move(answers)] { answers->deliver(); });
                 }) {}

std::vector<Job> RunningEngine::submit_all(std::vector<JobSpec> specs) {
    for (JobSpec& spec : specs) {
        spec.id = JobId{};
        spec.run_after = Timestamp{};
    }
    SubmitJobs command{.jobs = std::move(specs), .actor = "test"};
    command.siblings.resize(command.jobs.size());
    return ask(*this, std::move(command))->jobs;
}

Job RunningEngine::submit(JobSpec spec) {
    return submit_all({std::move(spec)}).front();
}

void RunningEngine::cancel(JobId id) {
    (void)ask(*this, CancelJob{.job = id, .reason = "changed my mind", .actor = "test"});
}

Job RunningEngine::find(JobId id) {
    return store_.reader()->find_one(id).value();
}

std::vector<Event> RunningEngine::events(JobId id) {
    return store_.reader()->events(id, 0, page);
}

std::vector<LogLine> RunningEngine::logs(JobId id) {
    return store_.reader()->logs(id, 0, page);
}

Job RunningEngine::wait_for_end(JobId id) {
    comes_true([&] { return is_final(find(id).now.state); });
    return find(id);
}

bool comes_true(const std::function<bool()>& holds, std::chrono::milliseconds patience) {
    const auto until = std::chrono::steady_clock::now() + patience;
    while (!holds()) {
        if (std::chrono::steady_clock::now() > until) return false;
        std::this_thread::sleep_for(std::chrono::milliseconds(2));
    }
    return true;
}

}  // namespace sluice
