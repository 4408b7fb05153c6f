#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "application/ports/store.hpp"

namespace sluice {

// Replaces the job's spec, which the engine never does.
inline void change_spec(Job& job, const std::function<void(JobSpec&)>& change) {
    JobSpec spec = job.spec;
    change(spec);
    job.spec = std::move(spec);
}

// The entities for TamperedReader; see below.
class TamperedEntities : public EntityReader {
  public:
    explicit TamperedEntities(EntityReader& inner) : inner_(inner) {}

    std::function<void(Entity&)> change_entity = [](Entity&) {};
    std::function<void(std::vector<EntityEvent>&)> change_events = [](std::vector<EntityEvent>&) {};

    std::vector<std::optional<Entity>> find(std::span<const EntityKey> keys) override {
        auto found = inner_.find(keys);
        for (auto& entity : found) {
            if (entity) change_entity(*entity);
        }
        return found;
    }
    std::vector<Entity> list(const EntityFilter& filter, std::int64_t before, std::int64_t offset,
                             int limit) override {
        auto found = inner_.list(filter, before, offset, limit);
        for (Entity& entity : found) change_entity(entity);
        return found;
    }
    std::int64_t count(const EntityFilter& filter) override { return inner_.count(filter); }
    std::vector<EntityEvent> events(const EntityKey& key, std::int64_t after, int limit) override {
        auto all = inner_.events(key, 0, 1'000'000);
        change_events(all);
        std::erase_if(all, [&](const EntityEvent& event) { return event.seq <= after; });
        if (std::ssize(all) > limit) all.resize(static_cast<std::size_t>(limit));
        return all;
    }

  private:
    EntityReader& inner_;
};

// Reads a store as if it had been changed behind the engine's back.
class TamperedReader : public JobReader {
  public:
    explicit TamperedReader(Store& store)
        : inner_(store.reader()), tampered_entities(inner_->entities()) {}

    std::function<void(std::vector<LogLine>&)> change_lines = [](std::vector<LogLine>&) {};
    std::function<void(Job&)> change_job = [](Job&) {};
    std::function<void(std::vector<Event>&)> change_events = [](std::vector<Event>&) {};

    std::vector<std::optional<Job>> find(std::span<const JobId> ids) override {
        auto found = inner_->find(ids);
        for (auto& job : found) {
            if (job) change_job(*job);
        }
        return found;
    }
    std::vector<Event> events(JobId job, std::int64_t after, int limit) override {
        auto all = inner_->events(job, 0, 1'000'000);
        change_events(all);
        std::erase_if(all, [&](const Event& event) { return event.seq <= after; });
        if (std::ssize(all) > limit) all.resize(static_cast<std::size_t>(limit));
        return all;
    }
    std::vector<Job> list(const JobFilter& filter, JobId before, ListLimit limit) override {
        auto found = inner_->list(filter, before, limit);
        for (Job& job : found) change_job(job);
        return found;
    }
    std::vector<Job> page(const JobFilter& filter, std::int64_t offset, int limit) override {
        return inner_->page(filter, offset, limit);
    }
    std::int64_t count(const JobFilter& filter) override { return inner_->count(filter); }
    std::vector<LogLine> logs(JobId job, std::int64_t after, int limit) override {
        auto all = inner_->logs(job, 0, 1'000'000);
        change_lines(all);
        std::erase_if(all, [&](const LogLine& line) { return line.seq <= after; });
        if (std::ssize(all) > limit) all.resize(static_cast<std::size_t>(limit));
        return all;
    }
    LimitReader& limits() override { return inner_->limits(); }
    std::vector<JobId> ids_after(JobId after, int limit) override {
        return inner_->ids_after(after, limit);
    }
    EntityReader& entities() override { return tampered_entities; }

  private:
    std::unique_ptr<JobReader> inner_;

  public:
    TamperedEntities tampered_entities;
};

}  // namespace sluice
