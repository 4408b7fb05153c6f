#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

#include "application/gates.hpp"
#include "application/make_job.hpp"
#include "application/transaction.hpp"
#include "domain/entity.hpp"
#include "domain/entity_kind.hpp"
#include "domain/result.hpp"

namespace sluice {

struct NewEntity {
    EntityKey key{};  // without an id: it gets one of 24 hex digits
    std::string parent{};
    Attributes attributes{};
};

// Whether this is the job that the entity moves with.
bool is_about(const Entity& entity, const Job& job);

// Refuses attributes that are too large to be kept.
std::optional<Error> check_size(const Attributes& attributes);

// Says in a job's payload against which runtime profile it runs.
void add_profile(Attributes& payload, const Entity& profile);

// Where entities are changed. Everything that is done here is gathered, seen by whoever asks the
// same desk, and written by apply(); a desk that is dropped before has changed nothing.
//
//     auto changeset = desk.find({tenant, "changeset", id});
//     if (!changeset || changeset->parent != app) return not_found(...);
//     changeset->attributes["head_sha"] = json_string(sha);
//     if (auto refusal = desk.act(*changeset, "submit")) return *refusal;   // table, gates, orders
//     return EntityAnswer{.entity = *changeset, .jobs = desk.submitted()};
//
// Entities are locked in one order: Session::reserve has locked what commands and jobs name, all at
// once. What shows only later is not waited for when another session has it; then the whole batch
// is decided again with it reserved.
class EntityDesk {
  public:
    // `actor` is whom the changes are put down to.
    EntityDesk(Transaction& tx, std::string actor)
        : tx_(tx), actor_(std::move(actor)), looks_(*this), checks_(tx.reader()) {}
    EntityDesk(const EntityDesk&) = delete;
    EntityDesk& operator=(const EntityDesk&) = delete;

    Timestamp now() const { return tx_.now(); }
    const Rules& rules() const { return tx_.rules(); }
    const std::string& actor() const { return actor_; }
    // Later changes are put down to this actor.
    void act_as(std::string actor) { actor_ = std::move(actor); }
    // Later changes follow the start or the end of this job.
    void follow(JobId cause, std::string actor) {
        cause_ = cause;
        actor_ = std::move(actor);
    }

    // The entity as it is now, kept from changing until the commit.
    std::optional<Entity> find(const EntityKey& key);
    // Has these at hand for find(): in one call of the store, whatever their number.
    void fetch(std::vector<EntityKey> keys);
    // Newest first; those that this desk has changed are as it left them. Not kept from changing:
    // find() what is to be changed.
    std::vector<Entity> list(const EntityFilter& filter, int limit = 1000);
    // Has these at hand for list() with this limit: in one call of the store.
    void fetch_lists(std::span<const EntityFilter> filters, int limit);
    // For looking at entities without keeping them from changing, as gates do. What this desk has
    // found or changed is as it left it; each other one is read once.
    EntityReader& looks() { return looks_; }
    std::optional<Job> find_job(JobId id);
    // Jobs as they were before this desk did anything; and the same for gates.
    JobReader& jobs() { return tx_.reader(); }
    Checks& checks() { return checks_; }

    // Adds one in its kind's first state. Refuses when there is one of this key already.
    Result<Entity> create(NewEntity wanted);

    // An entity that is damaged in the store is never written, to keep what is left of it. The four
    // below leave such an entity alone, and refusal() says so.

    // Takes the action: the kind's table must allow it, its gates must be open, and its jobs are
    // enqueued. Attributes that the caller has changed are written with it. On a refusal neither
    // the entity nor the desk has changed.
    std::optional<Error> act(Entity& entity, std::string_view action, std::string detail = {});

    // The same without gates and orders, where the table allows it; returns whether it did.
    bool move(Entity& entity, std::string_view action, std::string detail = {});

    // Writes changed attributes.
    void save(Entity& entity, std::string_view action = "updated", std::string detail = {});

    // The same without an entry in its history: for what changes all the time and says little.
    void touch(Entity& entity);

    // Why an entity that should have been changed was left alone; nothing: none was. What asked for
    // the change is refused with it, unless it was the engine.
    const std::optional<Error>& refusal() const { return refusal_; }

    // Enqueues a job in this transaction, and returns its id. The wish must be one that make_job()
    // accepts.
    Result<JobId> submit(NewJob wanted);

    // The same for an entity: tenant, project (its parent), entity_type and entity_id are filled
    // in. The entity remembers the job as its attribute "job_id".
    Result<JobId> submit_for(Entity& entity, NewJob wanted);

    // The jobs that were enqueued so far. Whole only after apply().
    std::vector<Job> submitted() const { return submitted_; }

    // Writes everything. Once, at the end.
    void apply();

  private:
    class Looks : public EntityReader {
      public:
        explicit Looks(EntityDesk& desk) : desk_(desk) {}

        std::vector<std::optional<Entity>> find(std::span<const EntityKey> keys) override;
        std::vector<Entity> list(const EntityFilter& filter, std::int64_t before,
                                 std::int64_t offset, int limit) override;
        std::vector<std::vector<Entity>> lists(std::span<const EntityFilter> filters,
                                               int limit) override;
        std::int64_t count(const EntityFilter& filter) override;
        std::vector<EntityEvent> events(const EntityKey& key, std::int64_t after,
                                        int limit) override;

      private:
        EntityReader& store() { return desk_.tx_.reader().entities(); }
        const std::optional<Entity>* known(const EntityKey& key) const;

        EntityDesk& desk_;
        std::map<EntityKey, std::optional<Entity>> seen_;
    };
    // A filter's tenant, kind, parent and states, and a limit.
    using ListName =
        std::tuple<std::string, std::string, std::string, std::vector<std::string>, int>;

    static ListName name_of(const EntityFilter& filter, int limit);
    const std::vector<Entity>& stored_list(const EntityFilter& filter, int limit);
    bool is_left_alone(const Entity& entity);
    void note(Entity& entity, std::string_view action, std::string from, std::string detail);
    std::optional<Error> order_jobs(Entity& entity, const EntityKind& kind,
                                    std::string_view action);

    Transaction& tx_;
    std::string actor_;
    std::optional<JobId> cause_{};
    Looks looks_;
    Checks checks_;
    std::map<EntityKey, std::optional<Entity>> found_;  // kept from changing
    std::map<EntityKey, Entity> changed_;
    std::map<ListName, std::vector<Entity>> lists_;  // as the store has them
    std::vector<EntityEvent> events_;
    std::vector<JobSpec> submits_;
    std::vector<Job> submitted_;
    std::optional<Error> refusal_;
};

}  // namespace sluice
