#include "support/faulty_store.hpp"

#include <utility>

namespace sluice {

class FaultyStore::FaultySession : public Session {
  public:
    FaultySession(FaultyStore& store, std::unique_ptr<Session> inner, std::optional<Plan> plan)
        : store_(store), inner_(std::move(inner)), plan_(plan) {}

    JobStore& jobs() override { return used().jobs(); }
    LeaseStore& leases() override { return used().leases(); }
    HistoryStore& history() override { return used().history(); }
    IdempotencyStore& idempotency() override { return used().idempotency(); }
    EntityStore& entities() override { return used().entities(); }

    void commit() override {
        if (plan_ && plan_->is_conflict) throw StoreConflict("another session was faster");
        if (plan_ && plan_->moment != Moment::after_commit) store_.fail("before the commit");
        inner_->commit();
        if (plan_) store_.fail("after the commit");
    }

  private:
    Session& used() {
        if (plan_ && plan_->moment == Moment::use && plan_->uses-- <= 0) {
            if (plan_->is_conflict) throw StoreConflict("another session was faster");
            store_.fail("within the session");
        }
        return *inner_;
    }

    FaultyStore& store_;
    std::unique_ptr<Session> inner_;
    std::optional<Plan> plan_;
};

void FaultyStore::fail_next(Moment moment, int uses) {
    planned_ = Plan{moment, uses};
}

void FaultyStore::conflict_next(int uses) {
    planned_ = Plan{.moment = Moment::use, .uses = uses, .is_conflict = true};
}

void FaultyStore::fail_by_chance(std::uint64_t seed, double probability) {
    chance_.emplace(seed);
    probability_ = probability;
}

void FaultyStore::heal() {
    planned_.reset();
    chance_.reset();
}

void FaultyStore::fail(const char* when) {
    ++faults_;
    throw StoreUnavailable(std::string("the store failed ") + when);
}

std::optional<FaultyStore::Plan> FaultyStore::next_plan() {
    if (planned_) return std::exchange(planned_, std::nullopt);
    if (!chance_ || chance_->next() >= probability_) return std::nullopt;
    const double which = chance_->next();
    const double uses = chance_->next();
    if (which < 0.1) return Plan{Moment::begin, 0};
    if (which < 0.4) return Plan{Moment::use, static_cast<int>(uses * 20)};
    return Plan{which < 0.6 ? Moment::before_commit : Moment::after_commit, 0};
}

std::unique_ptr<Session> FaultyStore::begin() {
    const std::optional<Plan> plan = next_plan();
    if (plan && plan->moment == Moment::begin) fail("to begin");
    return std::make_unique<FaultySession>(*this, inner_.begin(), plan);
}

}  // namespace sluice
