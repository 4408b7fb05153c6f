// Measures the throughput of a runner inside the engine's process, with jobs that do nothing:
// claim, execute, report, on the real committer and a SQLite store on the real disk. All jobs are
// submitted before the clock starts.
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <map>
#include <string>
#include <thread>
#include <vector>

#include "client/runner/runner.hpp"
#include "infrastructure/sqlite/store/sqlite_store.hpp"
#include "interfaces/worker/engine/engine_desk.hpp"
#include "support/running_engine.hpp"

namespace sluice::bench {
namespace {

constexpr const char* usage =
    R"(usage: runner [--folder PATH] [--jobs N] [--concurrency N] [--rounds N]

Prints "name value unit" lines; names begin with c and the concurrency.

  --folder PATH     where stores are kept while measuring (default .): name the disk under test
  --jobs N          jobs at each concurrency (default: 1,000 for each slot, 2,000 at the least and
                    30,000 at the most)
  --concurrency N   only this one (default: 1, 8 and 64)
  --rounds N        measures so often and prints the median rate (default 3)
)";

[[noreturn]] void die(const std::string& what) {
    std::fprintf(stderr, "%s\n", what.c_str());
    std::exit(1);
}

struct Measured {
    double rate = 0;  // jobs a second
    double commits = 0;
    double cpu_us = 0;  // a job, of the whole process
};

class NoOp : public client::JobWorker {
  public:
    explicit NoOp(int jobs) : left_(jobs) {}

    client::Outcome execute(const client::Job&, client::Context&) override {
        if (--left_ == 0) left_.notify_all();
        return client::Outcome::succeeded();
    }

    void wait_for_last() {
        for (int left = left_; left > 0; left = left_) left_.wait(left);
    }

  private:
    std::atomic<int> left_;
};

std::vector<JobId> submit(RunningEngine& engine, int count) {
    constexpr int batch = 1000;
    std::vector<JobId> ids;
    for (int left = count; left > 0; left -= batch) {
        const auto size = static_cast<std::size_t>(std::min(left, batch));
        for (const Job& job : engine.submit_all(std::vector<JobSpec>(size, spec("bench.job")))) {
            ids.push_back(job.spec->id);
        }
    }
    return ids;
}

void check_all_succeeded(Store& store, const std::vector<JobId>& ids) {
    const auto reader = store.reader();
    for (const JobId id : ids) {
        const auto job = reader->find_one(id);
        if (!job || job->now.state != JobState::succeeded || job->now.attempt != 1) {
            die("job " + to_text(id) + " did not succeed at its first attempt");
        }
    }
}

double cpu_seconds() {
    return static_cast<double>(std::clock()) / CLOCKS_PER_SEC;
}

Measured measure(const std::filesystem::path& folder, int concurrency, int jobs) {
    const std::filesystem::path own = folder / ("runner-" + std::to_string(::getpid()));
    std::filesystem::remove_all(own);
    std::filesystem::create_directories(own);
    Measured measured;
    {
        SystemClock clock;
        SqliteStore store(own / "db", clock.now());
        RunningEngine engine(store);
        const std::vector<JobId> ids = submit(engine, jobs);
        const auto desk = worker::engine_desk(
            engine.commands(), engine.clock(),
            [&](std::function<void()> task) { engine.on_io_thread(std::move(task)); });
        client::Runner runner(*desk, {.worker_id = "bench", .concurrency = concurrency});
        const auto work = std::make_shared<NoOp>(jobs);
        runner.handle("bench.job", work);
        std::thread stopper([&] {
            work->wait_for_last();
            runner.stop();
        });

        const std::int64_t commits = engine.commits();
        const double cpu = cpu_seconds();
        const auto start = std::chrono::steady_clock::now();
        runner.run();  // returns when the last outcome is on disk
        const std::chrono::duration<double> took = std::chrono::steady_clock::now() - start;

        measured.rate = jobs / took.count();
        measured.commits = static_cast<double>(engine.commits() - commits) / took.count();
        measured.cpu_us = (cpu_seconds() - cpu) * 1e6 / jobs;
        stopper.join();
        check_all_succeeded(store, ids);
    }
    std::filesystem::remove_all(own);
    return measured;
}

void print(int concurrency, const char* name, double value, const char* unit) {
    std::printf("c%d.%s %.4f %s\n", concurrency, name, value, unit);
    std::fflush(stdout);
}

void run(int count, char** words) {
    std::map<std::string, std::string> options{{"--folder", "."}, {"--rounds", "3"}};
    for (int i = 1; i < count; i += 2) {
        const std::string name = words[i];
        const bool is_known =
            name == "--folder" || name == "--jobs" || name == "--rounds" || name == "--concurrency";
        if (!is_known || i + 1 >= count) die(usage);
        options[name] = words[i + 1];
    }
    std::vector<int> concurrencies{1, 8, 64};
    if (options.contains("--concurrency")) {
        concurrencies = {std::max(1, std::atoi(options["--concurrency"].c_str()))};
    }
    const int rounds = std::max(1, std::atoi(options["--rounds"].c_str()));
    for (const int concurrency : concurrencies) {
        const int jobs = options.contains("--jobs") ? std::atoi(options["--jobs"].c_str())
                                                    : std::clamp(concurrency * 1000, 2000, 30'000);
        if (jobs < 1) die(usage);
        std::vector<Measured> all;
        for (int i = 0; i < rounds; ++i) {
            all.push_back(measure(options["--folder"], concurrency, jobs));
        }
        std::sort(all.begin(), all.end(),
                  [](const Measured& a, const Measured& b) { return a.rate < b.rate; });
        const Measured& median = all[all.size() / 2];
        print(concurrency, "rate", median.rate, "jobs/s");
        print(concurrency, "commits", median.commits, "commits/s");
        print(concurrency, "cpu", median.cpu_us, "us/job");
    }
}

}  // namespace
}  // namespace sluice::bench

int main(int count, char** words) {
    sluice::bench::run(count, words);
    return 0;
}
