#include "infrastructure/postgres/watch/limit_upkeep.hpp"

#include <future>

#include "infrastructure/postgres/cluster/clock_row.hpp"
#include "infrastructure/postgres/cluster/cluster_time.hpp"
#include "support/limit_nodes.hpp"

namespace sluice {
namespace limit_upkeep_test {

using namespace limit_builders;
using namespace std::chrono_literals;

class PostgresLimitUpkeep : public LimitNodes {
  protected:
    // The nodes live.
    int look_after(Duration later = {}) {
        execute(
            "UPDATE seat SET until = until + interval '1 day' WHERE until > now() + interval "
            "'1 minute' AND until < now() + interval '2 hours'");
        return upkeep_.run(connection_, now() + later);
    }
    Timestamp now() { return postgres::server_now(connection_); }
    void count_source(Store& store, Timestamp when) {
        const SourceCount count{
            .tenant = "acme", .source = "s", .submitted = 1, .last_job_at = when};
        commit(store, [&](Session& session) {
            session.limits().count_sources({&count, 1}, when);
            return 0;
        });
    }

    static std::int64_t rows_of(const std::string& table) {
        return ask("SELECT count(*) FROM " + table);
    }

  private:
    postgres::Connection connection_{{.url = database().url()}};
    postgres::LimitUpkeep upkeep_;
};

TEST_F(PostgresLimitUpkeep, WhatFreeSeatsHaveCountedStaysCountedInOneRow) {
    set(*one, at_most(3));
    put_some(1, 7);
    Ids running = started(*one);
    for (int i = 0; i < 2; ++i) {
        two = database().open();
        finish(*two, running[static_cast<std::size_t>(i)]);
        count_source(*two, now());
    }
    count_source(*one, now());
    finish(*one, running[2]);
    two.reset();
    ASSERT_EQ(rows_of("permit_return"), 3);
    ASSERT_EQ(rows_of("source"), 3);

    EXPECT_EQ(look_after(), 6);
    EXPECT_EQ(look_after(), 0);

    EXPECT_EQ(rows_of("permit_return"), 2) << "that of a seat, and that of all free ones";
    EXPECT_EQ(rows_of("source"), 2);
    EXPECT_EQ(rows_of("source_hour"), 1) << "the other one is not written yet";
    EXPECT_TRUE(check(*one).empty());
    EXPECT_EQ(started(*one).size(), 3u);
    commit(*one, [&](Session& session) {
        const std::vector<SourceCount> sources = session.limits().sources("acme", now());
        EXPECT_EQ(sources.size(), 1u);
        EXPECT_EQ(sources.front().submitted, 3);
        return 0;
    });
}

TEST_F(PostgresLimitUpkeep, MetersOfLiftedRulesAreRemovedWithWhatWasReturnedToThem) {
    const LimitRule rule = at_most(2);
    const LimitRule other = at_most(9, "dd");
    set(*one, rule);
    set(*one, other);
    put_some(1, 6);
    for (const JobId id : started(*one)) finish(*two, id);
    EXPECT_EQ(look_after(), 0);
    lift(*one, rule);

    EXPECT_EQ(look_after(), 2);

    EXPECT_EQ(rows_of("meter"), 1);
    EXPECT_EQ(rows_of("permit_return"), 1);
    set(*two, rule);
    EXPECT_EQ(started(*two).size(), 2u);
    EXPECT_TRUE(check(*one).empty());
}

// What comes back to a rule that is set again would count as free otherwise.
TEST_F(PostgresLimitUpkeep, AMeterStaysWhileOneOfItsReturnsIsLocked) {
    const LimitRule rule = at_most(2);
    set(*one, rule);
    put_some(1, 5);
    for (const JobId id : started(*one)) finish(*two, id);
    lift(*one, rule);
    postgres::Connection other({.url = database().url()});
    other.begin();
    other.ask({"", "SELECT FROM permit_return FOR UPDATE"});

    EXPECT_EQ(look_after(), 0);

    EXPECT_EQ(rows_of("meter"), 1);
    other.commit();
    set(*two, rule);
    EXPECT_EQ(started(*two).size(), 2u);
    EXPECT_TRUE(check(*one).empty());
}

TEST_F(PostgresLimitUpkeep, NoReturnStaysWithoutItsMeterHoweverManyThereAre) {
    execute(
        "INSERT INTO meter SELECT n, 'lifted', 'm', 0, 0, NULL, 12 FROM generate_series(1, 4500) n;"
        "INSERT INTO permit_return SELECT n, seat, 4 FROM generate_series(1, 4500) n, "
        "generate_series(0, 2) seat");

    EXPECT_EQ(look_after(), 4 * 4500);

    EXPECT_EQ(rows_of("meter"), 0);
    EXPECT_EQ(rows_of("permit_return"), 0);
}

TEST_F(PostgresLimitUpkeep, AMeterThatIsAddedHasNothingFreeBesidesItsLimit) {
    const LimitRule rule = at_most(2);
    set(*one, rule);
    put_some(1, 5);
    const JobId first = start(*one, 1).front().spec->id;
    const MeterId meter = ask("SELECT id FROM meter");
    const auto leave_returns_without_meter = [&] {
        lift(*one, rule);
        execute("DELETE FROM meter; DELETE FROM permit_return; INSERT INTO permit_return VALUES (" +
                std::to_string(meter) + ", 77, 5)");
    };

    leave_returns_without_meter();
    set(*two, rule);  // counts the first job
    EXPECT_TRUE(check(*one).empty());
    EXPECT_EQ(started(*two).size(), 1u);

    finish(*one, first);
    finish(*one, JobId{2});
    leave_returns_without_meter();
    set(*two, rule);  // nothing runs: a claim adds the meter
    EXPECT_EQ(started(*two).size(), 2u);
    EXPECT_TRUE(check(*one).empty());
}

TEST_F(PostgresLimitUpkeep, MetersThatRestForAnHourAreRemovedAndAddedAgain) {
    set(*one, at_most_per({Dimension::source}, 2));
    const auto start_one = [&](std::int64_t id, const std::string& source) {
        put(from_source(id, source));
        EXPECT_EQ(started(*one), Ids{{id}});
    };
    start_one(1, "rests");
    finish(*one, JobId{1});
    start_one(2, "rests");
    finish(*two, JobId{2});
    start_one(3, "runs");
    start_one(4, "goes on");
    finish(*one, JobId{4});
    EXPECT_EQ(look_after(), 0);
    start_one(5, "goes on");
    finish(*one, JobId{5});
    EXPECT_EQ(look_after(59min), 0);

    EXPECT_EQ(look_after(61min), 3) << "a meter, and what each committer has returned to it";

    EXPECT_EQ(rows_of("meter"), 2);
    EXPECT_TRUE(check(*one).empty());
    for (std::int64_t id = 11; id <= 16; ++id) put(from_source(id, "rests"));
    EXPECT_EQ(started(*one).size(), 2u);
    EXPECT_EQ(started(*two).size(), 0u);
    EXPECT_TRUE(check(*one).empty());
}

TEST_F(PostgresLimitUpkeep, ABucketThatIsNotFullStays) {
    LimitRule some = rate(1, std::chrono::hours(2), 5);
    some.max_active = 3;
    set(*one, some);
    put_some(1, 2);
    const Timestamp start_at = now();
    for (const Job& job : start(*one, 1, start_at)) finish(*one, job.spec->id);
    EXPECT_EQ(look_after(), 0);

    EXPECT_EQ(look_after(61min), 1) << "its return becomes one of no seat";
    EXPECT_EQ(rows_of("meter"), 1);
    EXPECT_EQ(look_after(122min), 2);
}

TEST_F(PostgresLimitUpkeep, AMeterThatRestsStaysWhileOneOfItsReturnsIsLocked) {
    set(*one, at_most(2));
    put_some(1, 2);
    for (const JobId id : started(*one)) finish(*two, id);
    EXPECT_EQ(look_after(), 0);
    postgres::Connection other({.url = database().url()});
    other.begin();
    other.ask({"", "SELECT FROM permit_return FOR UPDATE"});

    EXPECT_EQ(look_after(61min), 0);
}

// Both a node that knows the meter and one that does not.
TEST_F(PostgresLimitUpkeep, AClaimThatWaitsForAMeterThatIsBeingRemovedGetsItsLimit) {
    set(*one, at_most(2));
    put_some(1, 9);
    for (const JobId id : started(*one)) finish(*one, id);
    two = database().open();
    for (Store* store : {one.get(), two.get()}) {
        postgres::Connection other({.url = database().url()});
        other.begin();
        other.ask({"", "DELETE FROM permit_return"});
        other.ask({"", "DELETE FROM meter"});
        auto claimed = std::async(std::launch::async, [&] { return started(*store); });
        EXPECT_EQ(claimed.wait_for(100ms), std::future_status::timeout);
        other.commit();

        const Ids running = claimed.get();
        EXPECT_EQ(running.size(), 2u);
        EXPECT_TRUE(check(*store).empty());
        for (const JobId id : running) finish(*store, id);
    }
}

TEST_F(PostgresLimitUpkeep, ReturnsThatDidNotChangeForAnHourBecomeOneRow) {
    set(*one, at_most(3));
    put_some(1, 4);
    const Ids running = started(*one);
    finish(*one, running[0]);
    finish(*two, running[1]);
    EXPECT_EQ(look_after(), 0);

    EXPECT_EQ(look_after(61min), 2);

    EXPECT_EQ(rows_of("permit_return"), 1);
    EXPECT_TRUE(check(*one).empty());
}

TEST_F(PostgresLimitUpkeep, HoursThatNoLongerCountAreRemoved) {
    count_source(*two, now() - std::chrono::hours(30));
    count_source(*two, now());
    two.reset();
    ASSERT_EQ(rows_of("source_hour"), 2);

    EXPECT_EQ(look_after(), 3) << "that hour, and two rows that become those of no seat";

    EXPECT_EQ(rows_of("source_hour"), 1);
}

}  // namespace limit_upkeep_test
}  // namespace sluice
