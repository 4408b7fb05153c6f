#pragma once

#include <time.h>

#include <chrono>
#include <functional>
#include <mutex>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "sluice/worker.hpp"

namespace sluice::worker::test {

struct Line {
    client::Level level = client::Level::info;
    std::string message{};
    std::string data{};
};

// The context of a worker in tests: keeps all its messages, and tells it to stop when the test
// wants.
class TestContext : public client::Context, private client::Logger {
  public:
    client::Logger& log() override { return *this; }
    const client::CancelToken& cancel() const override { return token; }

    void progress(int percent, std::string_view message = {}) override {
        const std::lock_guard lock(mutex_);
        progress_.emplace_back(percent, message);
    }

    const std::string& lease_id() const override { return lease; }

    std::chrono::nanoseconds leased_until() const override { return until; }

    void on_renewal(std::function<void(std::chrono::nanoseconds)> changed) override {
        const std::lock_guard lock(mutex_);
        changed_ = std::move(changed);
    }

    // The effect of a heartbeat that the engine answered.
    void renew(std::chrono::nanoseconds moment) {
        const std::lock_guard lock(mutex_);
        if (changed_) changed_(moment);
    }

    std::vector<Line> lines() const {
        const std::lock_guard lock(mutex_);
        return lines_;
    }
    std::vector<std::pair<int, std::string>> progress_seen() const {
        const std::lock_guard lock(mutex_);
        return progress_;
    }

    // All messages and data, for searching.
    std::string text() const {
        std::string all;
        for (const Line& line : lines()) all += line.message + ' ' + line.data + '\n';
        return all;
    }

    static std::chrono::nanoseconds boot_time() {
        timespec now{};
        ::clock_gettime(CLOCK_BOOTTIME, &now);
        return std::chrono::seconds(now.tv_sec) + std::chrono::nanoseconds(now.tv_nsec);
    }

    client::CancelToken token{};
    std::string lease = "lease-1";
    std::chrono::nanoseconds until = boot_time() + std::chrono::minutes(1);

  private:
    void write(client::Level level, std::string_view message, std::string_view data) override {
        const std::lock_guard lock(mutex_);
        lines_.push_back({level, std::string(message), std::string(data)});
    }

    mutable std::mutex mutex_;
    std::vector<Line> lines_;
    std::vector<std::pair<int, std::string>> progress_;
    std::function<void(std::chrono::nanoseconds)> changed_;
};

}  // namespace sluice::worker::test
