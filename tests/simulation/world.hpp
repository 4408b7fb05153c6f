#pragma once

#include <functional>
#include <map>
#include <memory>
#include <sstream>
#include <string>
#include <vector>

#include "simulation/checker.hpp"
#include "simulation/dice.hpp"
#include "support/faulty_store.hpp"
#include "support/test_engine.hpp"

namespace sluice::simulation {

struct WorldOptions {
    std::uint64_t seed = 1;
    int steps = 150;
    int fault_percent = 0;         // of the engine's sessions
    bool keep_transcript = false;  // every answer as text
};

// Clients and workers, some of them bad, around one engine on virtual time, in one thread.
// Everything that happens follows from the seed.
//
//   1. Chaos: each step moves the clock, sends a batch of commands, and checks every answer against
//   what
//      its sender knows, and the store against what must always hold.
//   2. Healing: faults end, honest workers take what there is, and everything must finish.
class World {
  public:
    World(Store& store, WorldOptions options);

    // Throws a Violation when something happened that must not.
    void play();

    Digest history_hash() { return checker_.history_hash(); }
    const std::vector<std::string>& transcript() const { return transcript_; }
    std::size_t jobs() const { return checker_.jobs(); }
    int faults() const { return store_.faults(); }

  private:
    // A lease as its worker knows it.
    struct Holding {
        LeaseId lease;
        JobSpec spec;
        Timestamp until{};
        std::int64_t line = 0;  // the last of its lines that was stored
        bool over = false;      // reported, handed back or told that it is lost
        bool unsure = false;    // a word that would end it got no answer
        bool busy = false;      // has ended itself in the batch that is being made
        std::optional<Report> unanswered{};
    };
    struct Sent {
        Report report;
        Job answer;
    };
    struct WaitingClaim {
        ClaimJobs claim;
        Awaited<ClaimJobs> answer;
    };
    struct Submission {
        SubmitJobs command;
        std::optional<std::vector<JobId>> ids{};  // none: no answer came yet
        Timestamp at{};
    };

    // The kinds of commands in the order in which the engine runs them.
    enum class Rank { heartbeat, lines, report, hand_back, cancel, submit, replay, claim, explain };

    // world.cpp
    void step(int number);
    void pass_time();
    void run_batch();
    void run_alone() { run_batch(); }
    void look();
    void read_waiting();
    void heal();
    void finish_honestly(const ClaimFilter& filter);
    void forget_a_claim();
    template <class Item, class Read>
    void send(Rank rank, Item item, Read read);
    template <class Answer>
    void note(const char* what, const Result<Answer>& answer);
    void note_text(std::string text);

    // clients.cpp
    void client_speaks();
    JobSpec random_spec(const std::string& tenant);
    void submit();
    void submit_again();
    void read_submitted(std::size_t place, const Result<Submitted>& answer);
    void cancel();
    void replay();
    void explain();
    void check_references();

    // workers.cpp
    void worker_speaks();
    ClaimFilter random_filter();
    void claim(bool may_wait);
    void claim_by_the_book();
    void read_claimed(const ClaimJobs& claim, const Result<Claimed>& answer);
    void take_over(const ClaimJobs& claim, const Job& job);
    void heartbeat(std::size_t place);
    void log(std::size_t place);
    void report(std::size_t place);
    void read_reported(std::size_t place, const Report& report, const Result<Job>& answer);
    void hand_back(std::size_t place);
    bool closed_after_the_end(LeaseId lease);
    void report_again();
    void report_otherwise();
    void check_refusal(Holding& holding, const Error& error, const char* what);
    bool is_superseded(const Holding& holding) const;

    WorldOptions options_;
    FaultyStore store_;
    Engine engine_;
    Dice dice_;
    Timestamp now_ = at(0);
    std::unique_ptr<JobReader> reader_;
    Checker checker_;

    Batch batch_;
    std::multimap<Rank, std::function<void()>> readers_;  // of the answers to batch_
    std::vector<WaitingClaim> waiting_;
    std::uint64_t last_ticket_ = 0;
    std::optional<Timestamp> failed_at_{};

    std::map<std::string, std::vector<JobId>> known_;  // by tenant
    std::vector<Submission> submissions_;
    std::map<std::string, int> references_;  // how many jobs were asked for, by correlation id
    std::vector<Holding> holdings_;
    std::map<JobId, LeaseToken> newest_tokens_;
    std::vector<Sent> sent_;
    std::vector<std::string> transcript_;
};

template <class Item, class Read>
void World::send(Rank rank, Item item, Read read) {
    const auto answer = put(batch_, std::move(item));
    readers_.emplace(rank, [answer, read] {
        demand(answer->has_value(), "a command was not answered");
        read(**answer);
    });
}

template <class Answer>
void World::note(const char* what, const Result<Answer>& answer) {
    if (!options_.keep_transcript) return;
    if (!answer) {
        note_text(std::string(what) + " refused: " + answer.error().message);
    } else if constexpr (std::is_same_v<Answer, Job>) {
        std::ostringstream text;
        PrintTo(*answer, &text);
        note_text(std::string(what) + ' ' + text.str());
    } else {
        note_text(std::string(what) + " done");
    }
}

}  // namespace sluice::simulation
