#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "application/ports/store.hpp"

namespace sluice {

// Gives the job another spec, as the real one never gets.
inline void change_spec(Job& job, const std::function<void(JobSpec&)>& change) {
    JobSpec spec = job.spec;
    change(spec);
    job.spec = std::move(spec);
}

// Reads a store as it would be if somebody had changed it behind the engine's back.
class TamperedReader : public JobReader {
  public:
    explicit TamperedReader(Store& store) : inner_(store.reader()) {}

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
        return inner_->logs(job, after, limit);
    }
    std::vector<JobId> ids_after(JobId after, int limit) override {
        return inner_->ids_after(after, limit);
    }
    EntityReader& entities() override { return inner_->entities(); }

  private:
    std::unique_ptr<JobReader> inner_;
};

}  // namespace sluice
