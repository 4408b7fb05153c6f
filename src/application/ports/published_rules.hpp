#pragma once

#include <memory>
#include <mutex>

#include "domain/limits/limit_rules.hpp"

namespace sluice {

// The rules as the last commit of this process saw them, for threads without a session: to say
// that there is maintenance, never to decide. Thread-safe.
class PublishedRules {
  public:
    // Older rules than those that are shown are left aside: of several committers one may be late.
    void publish(std::shared_ptr<const LimitRules> rules) {
        const std::lock_guard lock(mutex_);
        if (rules->version() >= rules_->version()) rules_ = std::move(rules);
    }

    std::shared_ptr<const LimitRules> get() const {
        const std::lock_guard lock(mutex_);
        return rules_;
    }

  private:
    mutable std::mutex mutex_;
    std::shared_ptr<const LimitRules> rules_ = LimitRules::none();
};

}  // namespace sluice
