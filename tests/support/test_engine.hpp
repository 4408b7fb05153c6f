#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "application/engine/engine.hpp"
#include "infrastructure/memory/memory_store.hpp"
#include "support/builders.hpp"

namespace sluice {

template <class Item>
using AnswerTo = typename AnswersTo<Item>::value_type;

// The answer to a command, once there is one.
template <class Item>
using Awaited = std::shared_ptr<std::optional<AnswerTo<Item>>>;

// Adds a command of a caller of its own to the batch.
template <class Item>
Awaited<Item> put(Batch& batch, Item item) {
    auto answer = std::make_shared<std::optional<AnswerTo<Item>>>();
    PendingOf<Item> pending;
    pending.items.push_back(std::move(item));
    pending.done = [answer](AnswersTo<Item> answers) { answer->emplace(std::move(answers.at(0))); };
    batch.of<Item>().push_back(std::move(pending));
    return answer;
}

// The code of the refusal, or nothing.
template <class Answer>
std::optional<ErrorCode> refusal(const Result<Answer>& answer) {
    return answer ? std::nullopt : std::optional(answer.error().code);
}

// An answer that a test may ignore when it is about something else.
template <class Answer>
struct Told : Result<Answer> {
    Told(const Result<Answer>& answer) : Result<Answer>(answer) {}
};

LeaseId lease_of(const Job& job);
SubmitJobs submission(std::vector<JobSpec> specs);
Report report_of(const Job& job, Outcome outcome, std::string error_code = "");

// An engine under a clock that only the test moves. Each call is a batch of its own, run at now().
// Helper calls throw when they are refused.
class TestEngine {
  public:
    // On a store of its own: in memory, or in a file or the database of the tests when the
    // environment variable SLUICE_TEST_STORE says "sqlite" or "postgres".
    explicit TestEngine(Engine::Options options = {});
    explicit TestEngine(Store& store, Engine::Options options = {});

    Timestamp now() const { return now_; }
    Engine& engine() { return engine_; }
    Store& store() { return store_; }

    // Runs the batch and delivers its answers.
    Engine::Ran run(Batch& batch);
    Engine::Ran run();

    template <class Item>
    auto ask(Item item) {
        Batch batch;
        const auto answer = put(batch, std::move(item));
        run(batch);
        return Told(answer->value());
    }

    // Moves the clock and runs the engine at each moment in between at which something is due.
    void advance(Duration duration);

    // Moves the clock and does not run the engine.
    void sleep(Duration duration) { now_ += duration; }

    Job submit(JobSpec spec);
    std::vector<Job> submit_all(std::vector<JobSpec> specs,
                                std::vector<std::vector<std::size_t>> siblings = {});
    Claimed claim(ClaimFilter filter = {}, int limit = 1);
    Job claim_one(ClaimFilter filter = {});
    // Submits and claims.
    Job start(JobSpec spec);
    // A claim that waits for `wait`.
    Awaited<ClaimJobs> wait(Duration wait, ClaimFilter filter = {}, int limit = 1,
                            std::string worker_id = "waiter");
    void forget(std::uint64_t ticket);
    std::uint64_t last_ticket() const { return last_ticket_; }

    Told<Extended> heartbeat(const Job& job);
    Told<Job> report(const Job& job, Outcome outcome, std::string error_code = "");
    Told<Job> cancel(JobId job, std::string reason = "");
    Told<Job> hand_back(const Job& job);
    Told<Job> replay(JobId job);
    Explanation explain(JobId job);

    Job find(JobId id);
    std::vector<Event> events(JobId id);
    std::vector<LogLine> logs(JobId id);
    std::vector<Step> steps(JobId id);
    std::size_t count_jobs();

    ClaimJobs claim_command(ClaimFilter filter = {}, int limit = 1,
                            std::string worker_id = "worker");

    static constexpr Duration term = std::chrono::seconds(30);

  private:
    std::unique_ptr<Store> own_;
    Store& store_;
    Timestamp now_ = at(0);
    Engine engine_;
    std::uint64_t last_ticket_ = 0;
};

}  // namespace sluice
