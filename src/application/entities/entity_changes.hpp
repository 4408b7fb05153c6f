#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

#include "application/entities/gates.hpp"
#include "application/toolkit/make_job.hpp"
#include "application/toolkit/transaction.hpp"
#include "domain/entities/entity.hpp"
#include "domain/entities/entity_kind.hpp"
#include "domain/values/result.hpp"

namespace sluice {

struct NewEntity {
    EntityKey key{};  // without an id: it gets one of 24 hex digits
    std::string parent{};
    Attributes attributes{};
};

// Whether the entity moves with this job.
bool is_about(const Entity& entity, const Job& job);

// Refuses attributes that are too large to be kept.
std::optional<Error> check_size(const Attributes& attributes);

// What is wrong with a kind that is named and not among these; empty: nothing.
std::string wrong_kind(const EntityKinds& kinds, std::string_view kind);
Error no_such_entity(const EntityKinds& kinds, const EntityKey& key);

// The refusal of an action that the kind's table does not have.
Error no_such_action(const EntityKind& kind, std::string_view action);

// Writes into a job's payload the runtime profile that it runs against.
void add_profile(Attributes& payload, const Entity& profile);

// Changes of entities on their way into the store. They are gathered here, seen by find(), list()
// and looks(), and written by apply(); without apply() nothing has changed.
//
//     auto changeset = changes.find({tenant, "changeset", id});
//     if (!changeset || changeset->parent != app) return not_found(...);
//     changeset->attributes["head_sha"] = json_string(sha);
//     // checks the table and the gates, and orders the jobs
//     if (auto refusal = changes.act(*changeset, "submit")) return *refusal;
//     return EntityAnswer{.entity = *changeset, .jobs = changes.submitted()};
//
// Entities are locked in one order: Session::reserve has locked, all at once, the entities that
// commands and jobs name. An entity that shows only later is not waited for when another session
// has locked it; then the whole batch is decided again with that entity reserved.
class EntityChanges {
  public:
    // `actor` is recorded with the changes.
    EntityChanges(Transaction& tx, std::string actor)
        : tx_(tx), actor_(std::move(actor)), looks_(*this), checks_(tx.reader()) {}
    EntityChanges(const EntityChanges&) = delete;
    EntityChanges& operator=(const EntityChanges&) = delete;

    Timestamp now() const { return tx_.now(); }
    const Rules& rules() const { return tx_.rules(); }
    // The rules about what may run, as they were before any change was made here.
    std::shared_ptr<const LimitRules> limit_rules() { return tx_.limits().limit_rules(); }
    const std::string& actor() const { return actor_; }
    // Sets the actor of later changes.
    void act_as(std::string actor) { actor_ = std::move(actor); }
    // Sets the cause of later changes: the start or the end of this job.
    void follow(JobId cause, std::string actor) {
        cause_ = cause;
        actor_ = std::move(actor);
    }

    // The entity as it is now, locked until the commit.
    std::optional<Entity> find(const EntityKey& key);
    // Reads and locks these entities for find(): in one call of the store, whatever their number.
    void fetch(std::vector<EntityKey> keys);
    // Newest first; entities that were changed here are shown as changed. The list is not locked:
    // find() an entity before it is changed.
    std::vector<Entity> list(const EntityFilter& filter, int limit = 1000);
    // Reads these lists for list() with this limit: in one call of the store.
    void fetch_lists(std::span<const EntityFilter> filters, int limit);
    // Reads entities without locking them, as gates do. An entity that was found or changed here is
    // shown as it is here; each other one is read once.
    EntityReader& looks() { return looks_; }
    std::optional<Job> find_job(JobId id);
    // Jobs as they were before any change was made here; and the same for gates.
    JobReader& jobs() { return tx_.reader(); }
    Checks& checks() { return checks_; }

    // Adds an entity in its kind's first state. Refuses when one with this key exists.
    Result<Entity> create(NewEntity wanted);

    // An entity that is damaged in the store is never written, to keep the rest of it. The four
    // functions below leave such an entity alone, and refusal() says so.

    // Takes the action: the kind's table must allow it, its gates must be open, and its jobs are
    // enqueued. Attributes that the caller has changed are written with it. On a refusal neither
    // the entity nor the gathered changes are changed.
    std::optional<Error> act(Entity& entity, std::string_view action, std::string detail = {});

    // The same without gates and orders, where the table allows it; returns whether it did.
    bool move(Entity& entity, std::string_view action, std::string detail = {});

    // Writes changed attributes.
    void save(Entity& entity, std::string_view action = "updated", std::string detail = {});

    // The same without an entry in its history: for attributes that change all the time.
    void touch(Entity& entity);

    // Why an entity that should have been changed was left alone; nothing: none was. The command
    // that asked for the change is refused with it, unless it was the engine's own.
    const std::optional<Error>& refusal() const { return refusal_; }

    // Enqueues a job in this transaction, and returns its id. make_job() must accept it.
    Result<JobId> submit(NewJob wanted);

    // The same for an entity: tenant, project (its parent), entity_type and entity_id are filled
    // in. The entity remembers the job as its attribute "job_id".
    Result<JobId> submit_for(Entity& entity, NewJob wanted);

    // Why one of these jobs is not taken from the client that asks for the changes.
    std::optional<Error> refused_submit();

    // The jobs that were enqueued so far. Complete only after apply().
    std::vector<Job> submitted() const { return submitted_; }

    // Whether apply() has anything to write.
    bool has_any() const { return !changed_.empty() || !submits_.empty(); }

    // Writes everything. Once, at the end.
    void apply();

  private:
    class Looks : public EntityReader {
      public:
        explicit Looks(EntityChanges& changes) : changes_(changes) {}

        std::vector<std::optional<Entity>> find(std::span<const EntityKey> keys) override;
        std::vector<Entity> list(const EntityFilter& filter, std::int64_t before,
                                 std::int64_t offset, int limit) override;
        std::vector<std::vector<Entity>> lists(std::span<const EntityFilter> filters,
                                               int limit) override;
        std::int64_t count(const EntityFilter& filter) override;
        std::vector<EntityEvent> events(const EntityKey& key, std::int64_t after,
                                        int limit) override;

      private:
        EntityReader& store() { return changes_.tx_.reader().entities(); }
        const std::optional<Entity>* known(const EntityKey& key) const;

        EntityChanges& changes_;
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
    std::map<EntityKey, std::optional<Entity>> found_;  // and locked
    std::map<EntityKey, Entity> changed_;
    std::map<ListName, std::vector<Entity>> lists_;  // as the store has them
    std::vector<EntityEvent> events_;
    std::vector<JobSpec> submits_;
    std::vector<Job> submitted_;
    std::optional<Error> refusal_;
};

}  // namespace sluice
