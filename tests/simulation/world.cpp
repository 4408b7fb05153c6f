#include "simulation/world.hpp"

#include <algorithm>

namespace sluice::simulation {
namespace {

using namespace std::chrono_literals;

Engine::Options engine_options(const WorldOptions& options) {
    Engine::Options made;
    made.seed = options.seed;
    return made;
}

}  // namespace

World::World(Store& store, WorldOptions options)
    : options_(options),
      store_(store),
      engine_(store_, engine_options(options)),
      dice_(options.seed),
      reader_(store.reader()),
      checker_(*reader_) {
    if (options.fault_percent > 0) {
        store_.fail_by_chance(options.seed, options.fault_percent / 100.0);
    }
}

void World::play() {
    for (int number = 0; number < options_.steps; ++number) {
        try {
            step(number);
        } catch (const Violation& violation) {
            throw Violation("step " + std::to_string(number) + ": " + violation.what());
        }
    }
    heal();
    check_references();
    checker_.look_at_the_end();
}

void World::step(int number) {
    pass_time();
    for (Holding& holding : holdings_) holding.busy = false;
    if (dice_.one_in(6)) return claim_by_the_book();

    const int commands = 1 + dice_.below(number < 10 ? 3 : 6);
    for (int i = 0; i < commands; ++i) {
        if (dice_.percent(35)) {
            client_speaks();
        } else {
            worker_speaks();
        }
    }
    if (!waiting_.empty() && dice_.one_in(10)) forget_a_claim();
    run_batch();
}

void World::forget_a_claim() {
    batch_.forgotten.push_back(dice_.pick(waiting_).claim.ticket);
}

// Mostly the engine runs when it is due, as its committer does; now and then it comes late.
void World::pass_time() {
    static const std::vector<Duration> steps{0s, 0s, 1ms, 200ms, 1s, 3s, 3s, 8s, 20s};
    const Timestamp end = now_ + (dice_.one_in(40) ? Duration(2min) : dice_.pick(steps));
    if (!dice_.one_in(8)) {
        for (int runs = 0; engine_.next_due() <= end; ++runs) {
            demand(runs < 10'000, "the engine is due again and again");
            now_ = std::max(now_, engine_.next_due());
            run_alone();
        }
    }
    now_ = end;
}

void World::run_batch() {
    const Engine::Ran ran = engine_.run(batch_, now_);
    batch_.deliver();
    if (ran.counts.has_failed()) failed_at_ = now_;
    const auto readers = std::exchange(readers_, {});
    batch_ = Batch{};
    for (const auto& [rank, read] : readers) read();
    read_waiting();
    look();
}

void World::read_waiting() {
    std::vector<WaitingClaim> answered;
    const auto is_answered = [](const WaitingClaim& waiting) {
        return waiting.answer->has_value();
    };
    const auto first =
        std::stable_partition(waiting_.begin(), waiting_.end(), std::not_fn(is_answered));
    std::move(first, waiting_.end(), std::back_inserter(answered));
    waiting_.erase(first, waiting_.end());
    for (const WaitingClaim& waiting : answered) read_claimed(waiting.claim, **waiting.answer);
}

// After a failure the engine looks again after a second; until then things may be overdue.
void World::look() {
    const bool on_time = !failed_at_ || now_ > *failed_at_ + 1s;
    checker_.look(now_, on_time);
    if (!on_time) return;
    demand(engine_.waiting_claims() == waiting_.size(), "a waiting claim was lost");
    for (const WaitingClaim& waiting : waiting_) {
        demand(*waiting.claim.wait_until > now_, "a claim waits for too long");
        const auto job = checker_.first_claimable(waiting.claim.filter, now_);
        demand(!job, "a claim waits though job " + (job ? std::to_string(job->value) : "") +
                         " can be claimed");
    }
}

void World::heal() {
    store_.heal();
    const std::vector<ClaimFilter> filters{{.tenant = "acme", .labels = {"gpu"}},
                                           {.tenant = "umbrella", .labels = {"gpu"}}};
    for (int round = 0; round < 5000; ++round) {
        run_alone();
        if (checker_.all_settled()) return;
        const std::size_t held = holdings_.size();
        for (const ClaimFilter& filter : filters) finish_honestly(filter);
        if (holdings_.size() > held) continue;
        demand(engine_.next_due() != never,
               "nothing is due, but not done: " + checker_.open_jobs());
        now_ = std::max(now_, engine_.next_due());
    }
    demand(false, "not everything has finished: " + checker_.open_jobs());
}

void World::finish_honestly(const ClaimFilter& filter) {
    ClaimJobs command{.worker_id = "honest",
                      .filter = filter,
                      .limit = 50,
                      .term = 30s,
                      .ticket = ++last_ticket_};
    const std::size_t first = holdings_.size();
    send(Rank::claim, command, [this, command](const Result<Claimed>& answer) {
        demand(static_cast<bool>(answer), "a claim was refused by a healthy store");
        read_claimed(command, answer);
    });
    run_batch();
    for (std::size_t place = first; place < holdings_.size(); ++place) {
        Report report;
        report.lease = holdings_[place].lease;
        send(Rank::report, report, [this, place, report](const Result<Job>& answer) {
            demand(answer && answer->state == JobState::succeeded, "an honest report was refused");
            read_reported(place, report, answer);
        });
    }
    run_batch();
}

void World::note_text(std::string text) {
    if (options_.keep_transcript) transcript_.push_back(std::move(text));
}

}  // namespace sluice::simulation
