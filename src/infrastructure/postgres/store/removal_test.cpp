// A session removes an ended job while another one adds a job that depends on it.
#include <gtest/gtest.h>

#include "support/builders.hpp"
#include "support/test_database.hpp"

namespace sluice {
namespace removal_test {

class PostgresRemoval : public testing::Test {
  protected:
    PostgresRemoval() {
        const Arrival arrival{queued(spec(1)), false};
        const Job job = ended(arrival.job, JobState::canceled, at(1));
        const auto session = one->begin();
        session->jobs().put({&arrival, 1});
        session->jobs().finish({&job, 1});
        session->commit();
    }

    static Arrival dependent() {
        JobSpec made = spec(2);
        made.depends_on = {JobId{1}};
        return {queued(made), false};
    }

    using Ids = std::vector<JobId>;

    TestDatabase database;
    std::unique_ptr<Store> one = database.open_empty();
    std::unique_ptr<Store> two = database.open();
    const JobId id{1};
};

TEST_F(PostgresRemoval, PassesOverAJobThatAnotherSessionComesToDependOn) {
    const Arrival arrival = dependent();
    const auto submit = one->begin();
    submit->reserve({.jobs = {id}});
    submit->jobs().put({&arrival, 1});

    EXPECT_EQ(two->begin()->archive().unneeded({&id, 1}), Ids{}) << "it is not committed yet";
    submit->commit();
    EXPECT_EQ(two->begin()->archive().unneeded({&id, 1}), Ids{});
}

TEST_F(PostgresRemoval, LetsNobodyComeToDependOnWhatItRemoves) {
    const auto removal = two->begin();
    ASSERT_EQ(removal->archive().unneeded({&id, 1}), Ids{id});

    EXPECT_THROW(one->begin()->reserve({.jobs = {id}}), StoreConflict) << "it would wait";
    removal->archive().remove({&id, 1});
    removal->commit();

    const auto submit = one->begin();
    submit->reserve({.jobs = {id}});
    EXPECT_EQ(submit->jobs().find_one(id), std::nullopt);
}

TEST_F(PostgresRemoval, LeavesNoOpenDependencyOfAJobThatHasEnded) {
    const Arrival arrival = dependent();
    const Job over = ended(arrival.job, JobState::canceled, at(1));
    const auto session = one->begin();
    session->jobs().put({&arrival, 1});
    session->jobs().finish({&over, 1});
    session->commit();

    EXPECT_EQ(two->begin()->archive().unneeded({&id, 1}), Ids{id});
}

}  // namespace removal_test
}  // namespace sluice
