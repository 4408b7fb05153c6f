// Specs that a node keeps of jobs whose leases it locks without having claimed them.
#include <gtest/gtest.h>

#include <array>

#include "infrastructure/postgres/cluster/cluster.hpp"
#include "infrastructure/postgres/connection/connection.hpp"
#include "support/builders.hpp"
#include "support/test_database.hpp"
#include "support/test_engine.hpp"

namespace sluice {
namespace lease_specs_test {

class PostgresLeaseSpecs : public testing::Test {
  protected:
    Job start() {
        const std::unique_ptr<Store> claiming = database.open_empty();
        return TestEngine(*claiming).start(spec());
    }

    // Locks the lease as a heartbeat at this node does.
    Job lock() {
        const auto session = store.begin();
        session->reserve({.leased = {job.spec->id}});
        Job found = session->jobs().find_one(job.spec->id).value();
        session->commit();
        return found;
    }

    bool keeps() { return cluster->specs.find(std::array{job.spec->id}).front().has_value(); }

    TestDatabase database;
    Job job = start();
    std::shared_ptr<postgres::Cluster> cluster = std::make_shared<postgres::Cluster>(
        postgres::Database{.url = database.url()}, "another node");
    PostgresStore store{cluster};
};

TEST_F(PostgresLeaseSpecs, AreReadOnceByANodeThatDidNotClaimTheJob) {
    ASSERT_FALSE(keeps());

    const Job found = lock();

    EXPECT_EQ(found.spec, job.spec);
    EXPECT_TRUE(keeps());
}

TEST_F(PostgresLeaseSpecs, AreNotKeptWhenTheirRowIsDamaged) {
    postgres::Connection connection(cluster->connect_options());
    connection.ask({"", "UPDATE job SET payload = '{\"forged\":1}'"});
    connection.sync();

    const Job found = lock();

    EXPECT_EQ(found.damage, "payload");
    EXPECT_FALSE(keeps());
}

}  // namespace lease_specs_test
}  // namespace sluice
