#include "support/faulty_store.hpp"

#include <set>
#include <utility>

namespace sluice {

// The entities of a session that is not alone: another session may have locked those that it has
// not reserved.
class FaultyStore::SharedEntities : public EntityStore {
  public:
    SharedEntities(FaultyStore& store, EntityStore& inner) : store_(store), inner_(inner) {}

    void reserve(const std::vector<EntityKey>& keys) {
        own_.insert(keys.begin(), keys.end());
        if (store_.busy_ && own_.contains(*store_.busy_)) store_.busy_.reset();
    }

    std::vector<std::optional<Entity>> find(std::span<const EntityKey> keys) override {
        ask_for(keys);
        return inner_.find(keys);
    }
    void put(std::span<const Entity> entities) override { inner_.put(entities); }
    void append(std::span<const EntityEvent> events) override { inner_.append(events); }

  private:
    void ask_for(std::span<const EntityKey> keys) {
        for (const EntityKey& key : keys) {
            if (own_.contains(key)) continue;
            if (std::exchange(store_.busy_planned_, false)) store_.busy_ = key;
            if (store_.busy_ == key) {
                ++store_.busy_met_;
                throw EntitiesBusy({keys.begin(), keys.end()});
            }
            own_.insert(key);
        }
    }

    FaultyStore& store_;
    EntityStore& inner_;
    std::set<EntityKey> own_;
};

class FaultyStore::FaultySession : public Session {
  public:
    FaultySession(FaultyStore& store, std::unique_ptr<Session> inner, std::optional<Plan> plan)
        : store_(store),
          inner_(std::move(inner)),
          plan_(plan),
          entities_(store, inner_->entities()) {}

    void reserve(const Subjects& subjects) override {
        inner_->reserve(subjects);
        std::vector<EntityKey> entities = subjects.entities;
        for (const auto& job : inner_->jobs().find(subjects.ending)) {
            if (job && !is_final(job->now.state)) subjects.entities_of(job->spec, entities);
        }
        entities_.reserve(entities);
    }

    JobReader& reader() override { return used().reader(); }
    JobStore& jobs() override { return used().jobs(); }
    LeaseStore& leases() override { return used().leases(); }
    HistoryStore& history() override { return used().history(); }
    IdempotencyStore& idempotency() override { return used().idempotency(); }
    EntityStore& entities() override {
        used();
        return entities_;
    }
    ArchiveStore& archive() override {
        if (store_.archive_broken_) throw StoreUnavailable("the archive does not answer");
        return used().archive();
    }
    LimitStore& limits() override { return used().limits(); }

    void commit() override {
        if (plan_ && plan_->moment != Moment::after_commit) fail(*plan_, "before the commit");
        store_.use_room();
        inner_->commit();
        if (plan_) fail(*plan_, "after the commit");
    }

    std::vector<Readied> reopened() override { return inner_->reopened(); }

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
    SharedEntities entities_;
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
    if (state_.space() == StoreSpace::ample || reserve_ == 0) throw StoreFull("the disk is full");
    --reserve_;
}

std::unique_ptr<Session> FaultyStore::begin() {
    const std::optional<Plan> plan = std::exchange(planned_, std::nullopt);
    if (plan && plan->moment == Moment::begin) fail(*plan, "to begin");
    return std::make_unique<FaultySession>(*this, inner_.begin(), plan);
}

}  // namespace sluice
