#pragma once

#include <functional>
#include <map>
#include <span>
#include <unordered_map>

#include "domain/jobs/ids.hpp"

namespace sluice::http {

// Tells the watchers of a job that there may be something new about it. Only a hint: the watchers
// read the news from the store. Lives on the I/O thread.
class JobFeed {
  public:
    struct Watcher {
        std::function<void()> on_change;
        std::function<void()> on_tick;  // called every few seconds
    };

    // Watches until the handle is destroyed.
    class Watch {
      public:
        Watch(JobFeed& feed, JobId job, Watcher watcher);
        ~Watch();
        Watch(const Watch&) = delete;
        Watch& operator=(const Watch&) = delete;

      private:
        JobFeed& feed_;
        JobId job_;
        std::uint64_t number_;
    };

    // These jobs got events or log lines.
    void changed(std::span<const JobId> jobs);

    // Other processes may have changed any job.
    void any_changed();

    // Some time has passed.
    void tick();

  private:
    void tell_all(std::function<void()> Watcher::*what);

    std::unordered_map<JobId, std::map<std::uint64_t, Watcher>> watchers_;
    std::uint64_t last_number_ = 0;
};

}  // namespace sluice::http
