#include "interfaces/http/toolkit/job_feed.hpp"

#include <vector>

namespace sluice::http {

JobFeed::Watch::Watch(JobFeed& feed, JobId job, Watcher watcher)
    : feed_(feed), job_(job), number_(++feed.last_number_) {
    feed_.watchers_[job_].emplace(number_, std::move(watcher));
}

JobFeed::Watch::~Watch() {
    const auto found = feed_.watchers_.find(job_);
    found->second.erase(number_);
    if (found->second.empty()) feed_.watchers_.erase(found);
}

// A watcher may stop watching while it is told, so both work on copies.
void JobFeed::changed(std::span<const JobId> jobs) {
    if (watchers_.empty()) return;
    for (const JobId job : jobs) {
        const auto found = watchers_.find(job);
        if (found == watchers_.end()) continue;
        const auto told = found->second;
        for (const auto& [number, watcher] : told) watcher.on_change();
    }
}

void JobFeed::any_changed() {
    tell_all(&Watcher::on_change);
}

void JobFeed::tick() {
    tell_all(&Watcher::on_tick);
}

void JobFeed::tell_all(std::function<void()> Watcher::*what) {
    std::vector<std::function<void()>> told;
    for (const auto& [job, watchers] : watchers_) {
        for (const auto& [number, watcher] : watchers) told.push_back(watcher.*what);
    }
    for (const auto& tell : told) tell();
}

}  // namespace sluice::http
