#include "support/test_engine.hpp"

#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <stdexcept>

#include "infrastructure/sqlite/store/sqlite_store.hpp"
#include "support/quick_folder.hpp"
#include "support/test_database.hpp"

namespace sluice {
namespace {

template <class Answer>
Answer granted(Told<Answer> answer, const char* what) {
    if (!answer) throw std::logic_error(std::string(what) + ": " + answer.error().message);
    return std::move(*answer);
}

namespace fs = std::filesystem;

// The folder of SQLite's file; removed when the tests are over.
struct Folder {
    fs::path path = quick_folder() / ("sluice-use-cases-" + std::to_string(::getpid()));
    ~Folder() { fs::remove_all(path); }
};

// An empty store. There is one file and one database for all tests, which run one after the other.
std::unique_ptr<Store> own_store() {
    const char* chosen = std::getenv("SLUICE_TEST_STORE");
    const std::string_view kind = chosen == nullptr ? "memory" : chosen;
    if (kind == "memory") return std::make_unique<MemoryStore>();
    if (kind == "sqlite") {
        static const Folder folder;
        fs::remove_all(folder.path);
        return std::make_unique<SqliteStore>(folder.path / "jobs.db", at(0));
    }
    if (kind != "postgres") throw std::logic_error("SLUICE_TEST_STORE names no store");
    static TestDatabase database;
    return database.open_empty();
}

}  // namespace

LeaseId lease_of(const Job& job) {
    if (!job.lease) throw std::logic_error("the job has no lease");
    return {job.spec->id, job.lease->token};
}

SubmitJobs submission(std::vector<JobSpec> specs) {
    SubmitJobs command;
    command.jobs = std::move(specs);
    for (JobSpec& spec : command.jobs) spec.payload_digest = sha256(spec.payload);
    command.actor = "client";
    return command;
}

Report report_of(const Job& job, Outcome outcome, std::string error_code) {
    Report report;
    report.lease = lease_of(job);
    report.outcome = outcome;
    report.error_code = std::move(error_code);
    return report;
}

TestEngine::TestEngine(Engine::Options options)
    : own_(own_store()), store_(*own_), engine_(store_, options) {}

TestEngine::TestEngine(Store& store, Engine::Options options)
    : store_(store), engine_(store_, options) {}

Engine::Ran TestEngine::run(Batch& batch) {
    Engine::Ran ran = engine_.run(batch, now_);
    batch.deliver();
    return ran;
}

Engine::Ran TestEngine::run() {
    Batch batch;
    return run(batch);
}

void TestEngine::advance(Duration duration) {
    const Timestamp end = now_ + duration;
    for (int runs = 0; engine_.next_due() <= end; ++runs) {
        if (runs > 100'000) throw std::logic_error("the engine is due again and again");
        now_ = std::max(now_, engine_.next_due());
        run();
    }
    now_ = end;
}

Job TestEngine::submit(JobSpec spec) {
    return submit_all({std::move(spec)}).at(0);
}

std::vector<Job> TestEngine::submit_all(std::vector<JobSpec> specs,
                                        std::vector<std::vector<std::size_t>> siblings) {
    SubmitJobs command = submission(std::move(specs));
    command.siblings = std::move(siblings);
    return granted(ask(std::move(command)), "submit").jobs;
}

ClaimJobs TestEngine::claim_command(ClaimFilter filter, int limit, std::string worker_id) {
    ClaimJobs claim;
    claim.worker_id = std::move(worker_id);
    claim.filter = std::move(filter);
    claim.limit = limit;
    claim.term = term;
    claim.ticket = ++last_ticket_;
    return claim;
}

Claimed TestEngine::claim(ClaimFilter filter, int limit) {
    return granted(ask(claim_command(std::move(filter), limit)), "claim");
}

Job TestEngine::claim_one(ClaimFilter filter) {
    Claimed jobs = claim(std::move(filter));
    if (jobs.empty()) throw std::logic_error("there is nothing to claim");
    return std::move(jobs.front());
}

Job TestEngine::start(JobSpec spec) {
    const Job job = submit(std::move(spec));
    Job claimed = claim_one({.tenant = job.spec->tenant, .labels = job.spec->labels});
    if (claimed.spec->id != job.spec->id) throw std::logic_error("another job came first");
    return claimed;
}

Awaited<ClaimJobs> TestEngine::wait(Duration wait, ClaimFilter filter, int limit,
                                    std::string worker_id) {
    Batch batch;
    ClaimJobs claim = claim_command(std::move(filter), limit, std::move(worker_id));
    claim.wait_until = now_ + wait;
    auto answer = put(batch, std::move(claim));
    run(batch);
    return answer;
}

void TestEngine::forget(std::uint64_t ticket) {
    Batch batch;
    batch.forgotten.push_back(ticket);
    run(batch);
}

Told<Extended> TestEngine::heartbeat(const Job& job) {
    Heartbeat command;
    command.lease = lease_of(job);
    return ask(std::move(command));
}

Told<Job> TestEngine::report(const Job& job, Outcome outcome, std::string error_code) {
    return ask(report_of(job, outcome, std::move(error_code)));
}

Told<Job> TestEngine::cancel(JobId job, std::string reason) {
    return ask(CancelJob{.job = job, .reason = std::move(reason), .actor = "client"});
}

Told<Job> TestEngine::hand_back(const Job& job) {
    return ask(HandBack{.lease = lease_of(job), .reason = "shutting down"});
}

Told<Job> TestEngine::replay(JobId job) {
    return ask(ReplayJob{.job = job, .reason = "once more", .actor = "client"});
}

Explanation TestEngine::explain(JobId job) {
    return granted(ask(ExplainJob{.job = job}), "explain");
}

Job TestEngine::find(JobId id) {
    auto job = store_.reader()->find_one(id);
    if (!job) throw std::logic_error("no job has this id");
    return *std::move(job);
}

std::vector<Event> TestEngine::events(JobId id) {
    return store_.reader()->events(id, 0, 100'000);
}

std::vector<LogLine> TestEngine::logs(JobId id) {
    return store_.reader()->logs(id, 0, 100'000);
}

std::vector<Step> TestEngine::steps(JobId id) {
    std::vector<Step> steps;
    for (const Event& event : events(id)) steps.push_back(event.step);
    return steps;
}

std::size_t TestEngine::count_jobs() {
    return store_.reader()->ids_after({}, 100'000).size();
}

}  // namespace sluice
