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
        if (plan_ && plan_->moment != Moment::after_commit) fail(*plan_, "before the commit");
        store_.use_room();
        inner_->commit();
        if (plan_) fail(*plan_, "after the commit");
    }

  private:
    Session& used() {
        if (plan_ && plan_->moment == Moment::use && plan_->uses-- <= 0) {
            fail(*plan_, "within the session");
        }
        return *inner_;
    }

    FaultyStore& store_;
    std::unique_ptr<Session> inner_;
    std::optional<Plan> plan_;
};

void FaultyStore::fail_next(Moment moment, int uses) {
    planned_ = Plan{.moment = moment, .uses = uses};
}

void FaultyStore::conflict_next(int uses) {
    planned_ = Plan{.moment = Moment::use, .uses = uses, .what = Plan::conflict};
}

void FaultyStore::die_next(Moment moment, int uses) {
    planned_ = Plan{.moment = moment, .uses = uses, .what = Plan::death};
}

bool FaultyStore::forget_plan() {
    return std::exchange(planned_, std::nullopt).has_value();
}

void FaultyStore::fail(const Plan& plan, const char* when) {
    if (plan.what == Plan::death) throw ProcessDied{};
    if (plan.what == Plan::conflict) throw StoreConflict("another session was faster");
    throw StoreUnavailable(std::string("the store failed ") + when);
}

void FaultyStore::use_room() {
    if (!full_) return;
    if (state_.room() == StoreRoom::roomy || reserve_ == 0) throw StoreFull("the disk is full");
    --reserve_;
}

std::unique_ptr<Session> FaultyStore::begin() {
    const std::optional<Plan> plan = std::exchange(planned_, std::nullopt);
    if (plan && plan->moment == Moment::begin) fail(*plan, "to begin");
    return std::make_unique<FaultySession>(*this, inner_.begin(), plan);
}

}  // namespace sluice
