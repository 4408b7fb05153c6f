#pragma once

#include <string>
#include <utility>
#include <vector>

#include "contract/store_contract.hpp"
#include "support/limit_builders.hpp"
#include "support/written_rules.hpp"

namespace sluice {
namespace limits_contract {

using namespace limit_builders;

}  // namespace limits_contract

// The promises of LimitStore, and what rules mean for LeaseStore::take. Each store adds one line,
// as for StoreContract.
class LimitContract : public StoreContract {
  protected:
    void set(const LimitRule& rule, Timestamp now = at(0)) {
        commit([&](Session& session) { write_rule(session, rule, now); });
    }
    void lift(const LimitRule& rule) {
        commit([&](Session& session) { lift_rule(session, rule, at(0)); });
    }

    // Takes and opens up to `limit` jobs.
    std::vector<Job> start(int limit, Timestamp now = at(0)) {
        return commit([&](Session& session) {
            std::vector<Job> jobs = take(session, limits_contract::anything, limit, now);
            for (Job& job : jobs) job = running(job, {.token = ++token_, .now = now});
            session.leases().open(jobs);
            return jobs;
        });
    }
    Ids started(int limit, Timestamp now = at(0)) { return ids_of(start(limit, now)); }

    // The one meter of the rule for this lane, as a reader sees it.
    MeterState meter(const LimitRule& rule, const JobSpec& covered = spec(1)) {
        const auto reader = store->reader();
        const auto rules = reader->limits().limit_rules();
        for (const Permit& permit : rules->permits_of(lane_of(covered))) {
            if (permit.rule->id != rule.id) continue;
            return reader->limits().meters({&permit.meter, 1}).front();
        }
        ADD_FAILURE() << "the rule does not cover the lane";
        return {};
    }

    // Whether that many jobs became claimable. A shared store may wake more claims than it serves.
    void expect_newly_ready(int count, Timestamp now) {
        const int told = newly_ready(now);
        if (GetParam().is_shared) {
            EXPECT_GE(told, count);
        } else {
            EXPECT_EQ(told, count);
        }
    }

    std::vector<MeterDifference> check_meters() {
        return commit([&](Session& session) { return session.limits().check_meters(false); });
    }

  private:
    std::int64_t token_ = 50'000;
};

}  // namespace sluice
