// Rules about what may run, under committers that all work at once.
#include <gtest/gtest.h>

#include <functional>
#include <thread>

#include "support/limit_nodes.hpp"

namespace sluice {
namespace limit_crowd_test {

using namespace limit_builders;
using Ids = std::vector<JobId>;

// Nodes that take jobs and end them, both in one session, until all have ended.
class PostgresLimitCrowd : public LimitNodes {
  protected:
    void work(Store& store) {
        for (Ids mine; left_ > 0;) {
            Ids taken;
            insist(store, [&](Session& session) {
                session.reserve({.leased = mine});
                for (const JobId id : mine) {
                    const Job over =
                        ended(session.jobs().find_one(id).value(), JobState::succeeded, at(1));
                    session.jobs().finish({&over, 1});
                }
                taken = ids_of(start_in(session, 2));
                session.leases().newly_ready(at(0));
                return 0;
            });
            left_ -= static_cast<int>(mine.size());
            mine = taken;
        }
    }

    // Three tenants; each fourth job needs a key.
    void put_jobs(int count) {
        left_ = count;
        for (int id = 1; id <= count; ++id) {
            JobSpec made = of_tenant(id, std::string(1, static_cast<char>('a' + id % 3)));
            if (id % 4 == 0) made.exclusive_keys = {"k"};
            put(made);
        }
    }

    void work_together(const std::function<void()>& meanwhile) {
        std::unique_ptr<Store> three = database().open();
        std::vector<std::thread> nodes;
        for (Store* store : {one.get(), two.get(), three.get()}) {
            nodes.emplace_back([this, store] { work(*store); });
        }
        while (left_ > 0) meanwhile();
        for (std::thread& node : nodes) node.join();
        EXPECT_EQ(ask("SELECT count(*) FROM lease"), 0);
        EXPECT_TRUE(check(*one).empty());
    }

    std::atomic<int> left_ = 0;
};

TEST_F(PostgresLimitCrowd, NeverRunsMoreThanMayBeActive) {
    LimitRule by_tenant = at_most_per({Dimension::tenant}, 2);
    by_tenant.id = limit_rule("dd").id;
    set(*one, at_most(3));
    set(*one, by_tenant);
    put_jobs(150);

    work_together([&] {
        EXPECT_LE(ask("SELECT count(*) FROM lease"), 3);
        EXPECT_LE(ask("SELECT coalesce(max(n), 0) FROM (SELECT count(*) AS n FROM lease l "
                      "JOIN job j ON j.id = l.id GROUP BY j.tenant) x"),
                  2);
    });

    EXPECT_EQ(ask("SELECT count(*) FROM meter m WHERE taken <> (SELECT sum(given) "
                  "FROM permit_return p WHERE p.meter = m.id)"),
              0);
}

TEST_F(PostgresLimitCrowd, GoesByRulesThatChangeMeanwhile) {
    put_jobs(150);
    LimitRule rule = at_most(1);
    std::unique_ptr<Store> ruler = database().open();
    int changes = 0;

    work_together([&] {
        rule.max_active = 2 + changes % 3;
        rule.per = changes % 2 == 0 ? CountedBy{} : CountedBy{Dimension::tenant};
        const bool lifts = ++changes % 4 == 0;
        insist(*ruler, [&](Session& session) {
            lifts ? lift_rule(session, rule, at(0)) : write_rule(session, rule, at(0));
            return 0;
        });
    });

    EXPECT_GE(changes, 3);
}

}  // namespace limit_crowd_test
}  // namespace sluice
