// How often a batch waits for the server: as often for a hundred jobs as for a few.
#include <gtest/gtest.h>

#include "application/entity_desk.hpp"
#include "support/builders.hpp"
#include "support/pooler.hpp"
#include "support/test_database.hpp"
#include "support/test_engine.hpp"

namespace sluice {
namespace {

class PostgresEntityRoundTrips : public testing::Test {
  protected:
    // Each about a site and an environment of its own.
    static std::vector<JobSpec> jobs_on_sites(int count) {
        std::vector<JobSpec> specs;
        for (int i = 0; i < count; ++i) {
            specs.push_back(spec("env_deploy"));
            specs.back().site_id = "s" + std::to_string(i);
            specs.back().entity_type = "environment";
            specs.back().entity_id = "e" + std::to_string(i);
        }
        return specs;
    }

    struct Turns {
        int submit = 0;
        int claim = 0;
        int report = 0;
    };
    // The whole life of so many jobs, each step in one batch.
    Turns turns_of(int count) {
        Turns turns;
        int before = pooler.turns();
        const auto lap = [&](int& counted) {
            counted = pooler.turns() - before;
            before = pooler.turns();
        };
        engine.submit_all(jobs_on_sites(count));
        lap(turns.submit);
        const Claimed claimed = engine.claim({}, count);
        EXPECT_EQ(std::ssize(claimed), count);
        lap(turns.claim);
        Batch batch;
        std::vector<Awaited<Report>> answers;
        for (const Job& job : claimed) {
            answers.push_back(put(batch, report_of(job, Outcome::succeeded)));
        }
        engine.run(batch);
        lap(turns.report);
        for (const auto& answer : answers) EXPECT_TRUE(answer->value());
        return turns;
    }

    TestDatabase database;
    Pooler pooler;
    std::shared_ptr<postgres::Cluster> cluster = std::make_shared<postgres::Cluster>(
        postgres::Database{.url = pooler.url_for(database.url())}, "test node");
    PostgresStore store{cluster};
    TestEngine engine{store};
};

TEST_F(PostgresEntityRoundTrips, DoNotGrowWithTheBatch) {
    turns_of(1);  // lanes and the like are learned
    const Turns few = turns_of(10);
    const Turns many = turns_of(100);

    // A large message may be answered in the middle of it.
    constexpr int pieces = 6;
    EXPECT_LE(many.submit, few.submit + pieces);
    EXPECT_LE(many.claim, few.claim + pieces);
    EXPECT_LE(many.report, few.report + pieces);
    EXPECT_LE(many.report, 20);
    RecordProperty("report", many.report);
    EXPECT_EQ(store.reader()->entities().count({.kind = "site", .states = {"active"}}), 100);
}

}  // namespace
}  // namespace sluice
