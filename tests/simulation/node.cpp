#include "simulation/node.hpp"

#include <algorithm>

#include "simulation/checker.hpp"
#include "support/builders.hpp"

namespace sluice::simulation {
namespace {

using namespace std::chrono_literals;
using Moment = FaultyStore::Moment;

constexpr int committers_max = 4;

struct MomentName {
    Moment moment;
    const char* store;
    const char* node;
};
constexpr MomentName moments[] = {
    {Moment::begin, "store gives no session", "node dies before the session"},
    {Moment::use, "store fails within the session", "node dies within the session"},
    {Moment::before_commit, "store fails before the commit", "node dies before the commit"},
    {Moment::after_commit, "store fails after the commit", "node dies after the commit"},
};

}  // namespace

Node::Node(Surroundings& around, int number, int committers)
    : around_(around),
      number_(number),
      count_(committers),
      clock_off_(number == 0 ? 0us : 1us * (around.dice.below(60'000) - 30'000)) {
    boot();
}

void Node::boot() {
    if (!know_time()) {
        around_.timeline.after(200ms, [this] {
            if (!is_up()) boot();
        });
        return;
    }
    ++life_;
    set_clock();
    delays_ = std::make_unique<HeartbeatDelays>(*clock_);
    for (int i = 0; i < count_; ++i) {
        Engine::Options options;
        options.delays = delays_.get();
        options.retention = around_.retention;
        options.sweeps = i == 0;
        options.seed = around_.dice.number();
        committers_.push_back(std::make_unique<Committer>(
            around_.disk.open(number_ * committers_max + i, clock_->now()), options));
    }
    around_.onlooker.booted(*this);
    wake(0);
}

// As postgres::know_time does. A start that finds no database fails, and begins anew.
bool Node::know_time() {
    if (!around_.disk.is_shared()) return true;
    const Timestamp now = around_.timeline.now();
    if (now < around_.database_away_until) {
        is_starting_ = false;
        return false;
    }
    const bool is_first = !std::exchange(is_starting_, true);
    if (is_first) {
        time_ = std::make_unique<postgres::ClusterTime>(
            [&timeline = around_.timeline] { return timeline.now() - at(0); });
    }
    const postgres::ClockReading reading =
        around_.database_clock.read(around_.clock(), now - at(0));
    if (time_->waits(reading)) {
        if (is_first) around_.coverage.fault("node waits for the time at its start");
        return false;
    }
    if (reading.ahead != Duration{}) around_.coverage.fault("node starts after the clock was set");
    around_.database_clock.write(time_->begin(reading));
    if (!is_first && time_->is_settled()) around_.coverage.fault("node starts without the time");
    seat_ = around_.database_clock.take_seat(time_->now());
    is_starting_ = false;
    look_at_clock();
    return true;
}

void Node::set_clock() {
    const auto since_boot = [&timeline = around_.timeline] { return timeline.now() - at(0); };
    if (!around_.disk.is_shared()) {
        clock_ = std::make_unique<SystemClock>([this] { return around_.clock() + clock_off_; },
                                               since_boot);
        return;
    }
    clock_ = std::make_unique<SystemClock>(
        [&time = *time_, off = clock_off_] { return time.now() + off; }, since_boot,
        SystemClock::cluster_steps_from);
}

void Node::look_at_clock() {
    const postgres::ClockReading reading =
        around_.database_clock.read(around_.clock(), around_.timeline.now() - at(0));
    around_.database_clock.write(time_->look(reading));
    around_.database_clock.tick(seat_, *time_);
}

void Node::die() {
    ++life_;
    around_.disk.crash();
    committers_.clear();
    parked_.clear();
    around_.onlooker.died(*this);
}

bool Node::is_busy() const {
    return std::any_of(committers_.begin(), committers_.end(),
                       [](const auto& committer) { return committer->busy; });
}

void Node::forget(std::uint64_t ticket) {
    if (!is_up()) return;
    committers_.front()->inbox.forgotten.push_back(ticket);
    wake(0);
}

void Node::hint(const std::vector<Readied>& readied, Timestamp due) {
    if (!is_up()) return;
    Batch& inbox = committers_.front()->inbox;
    inbox.readied_elsewhere.insert(inbox.readied_elsewhere.end(), readied.begin(), readied.end());
    inbox.look_at = std::min(inbox.look_at, due);
    wake(0);
}

bool Node::add(Route route, Load, const std::function<void(Batch&)>& put) {
    const std::size_t others = committers_.size() - 1;
    std::size_t place = 0;
    if (others > 0 && !route.to_claims) {
        place = 1 + (route.job != JobId{} ? std::hash<JobId>()(route.job) >> 32 : next_++) % others;
    }
    put(committers_[place]->inbox);
    wake(place);
    return true;
}

// Runs as soon as the committer is free.
void Node::wake(std::size_t place) {
    Committer& committer = *committers_[place];
    if (committer.has_work) return;
    committer.has_work = true;
    if (committer.busy) return;
    around_.timeline.after(0s, [this, place, life = life_] {
        if (life == life_ && !committers_[place]->busy) run(place);
    });
}

// The fault of the next session, or null.
const char* Node::plan_fault(Committer& committer) {
    const Weather& weather = around_.weather;
    Dice& dice = around_.dice;
    committer.store.set_full(around_.disk_is_full, around_.reserve);
    if (dice.percent(weather.busy_entities)) committer.store.busy_next();
    const MomentName& chosen = moments[dice.below(4)];
    const int uses = dice.below(20);
    if (dice.percent(weather.dies_in_session)) {
        committer.store.die_next(chosen.moment, uses);
        return chosen.node;
    }
    if (dice.percent(weather.store_fails)) {
        committer.store.fail_next(chosen.moment, uses);
        return chosen.store;
    }
    if (!dice.percent(weather.conflicts)) return nullptr;
    committer.store.conflict_next(uses);
    return "store prefers another session";
}

// An engine that has asked for an entity that another session had locked reserves it with its next
// try.
void Node::note_busy(const Committer& committer, int met_before) {
    const int met = committer.store.busy_met() - met_before;
    if (met == 0) return;
    around_.coverage.fault("another session has an entity");
    demand(met == 1, "a batch asked twice for an entity that it did not reserve");
}

// Claims that go into the engine wait there unless they come out answered.
void Node::note_parked(Batch& batch, bool answered) {
    for (const auto& pending : batch.claims) {
        const ClaimJobs& claim = pending.items.front();
        if (answered) {
            parked_.erase(claim.ticket);
        } else {
            parked_.emplace(claim.ticket, claim.filter);
        }
    }
}

void Node::run(std::size_t place) {
    Committer& committer = *committers_[place];
    // As the real committer does: arrived commands wait for the turn without commands.
    const bool is_turn = committer.engine.wants_a_turn(clock_->now());
    committer.has_work = is_turn;
    committer.busy = true;
    const auto batch =
        std::make_shared<Batch>(is_turn ? Batch() : std::exchange(committer.inbox, {}));
    around_.onlooker.before(*this, *batch);
    const char* fault = plan_fault(committer);
    const int busy_before = committer.store.busy_met();
    note_parked(*batch, false);
    Engine::Ran ran;
    try {
        ran = committer.engine.run(*batch, clock_->now());
    } catch (const ProcessDied&) {
        around_.coverage.fault(fault);
        return die();
    }
    if (fault != nullptr && !committer.store.forget_plan()) {
        around_.coverage.fault(fault);
        around_.onlooker.is_slow();  // a delayed write comes with the next run
    }
    note_busy(committer, busy_before);
    note_parked(*batch, true);
    around_.onlooker.after(*this, *batch, ran);
    around_.timeline.after(time_to_commit(), [this, place, batch, life = life_] {
        if (life == life_) finish(place, batch);
    });
}

Duration Node::time_to_commit() {
    if (around_.dice.percent(around_.weather.slow)) {
        around_.coverage.fault("store is slow");
        around_.onlooker.is_slow();
        return 300ms + 1ms * around_.dice.below(8000);
    }
    return 100us + 1us * around_.dice.below(3000);
}

void Node::finish(std::size_t place, const std::shared_ptr<Batch>& answers) {
    Committer& committer = *committers_[place];
    committer.busy = false;
    answers->deliver();
    if (committer.has_work) return run(place);
    set_alarm(place);
}

// When the engine has work of its own. The node's clock may run a little faster or slower than
// time, so it looks again when it was too early, and each second, so that it is not much too late.
void Node::set_alarm(std::size_t place) {
    const Timestamp due = committers_[place]->engine.next_due();
    if (due == never) return;
    const Duration left = std::clamp<Duration>(due - clock_->now(), 0us, 1s);
    const std::uint64_t alarm = ++committers_[place]->alarm;
    around_.timeline.after(left, [this, place, alarm, life = life_] {
        if (life != life_ || committers_[place]->alarm != alarm || committers_[place]->busy) return;
        if (committers_[place]->engine.next_due() <= clock_->now()) return wake(place);
        around_.timeline.after(1ms, [this, place, alarm, life] {
            if (life == life_ && committers_[place]->alarm == alarm) set_alarm(place);
        });
    });
}

}  // namespace sluice::simulation
