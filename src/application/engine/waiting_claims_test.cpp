#include "application/engine/waiting_claims.hpp"

#include <gtest/gtest.h>

#include "support/test_engine.hpp"

namespace sluice {
namespace waiting_claims_test {

using namespace std::chrono_literals;

// ── waiting claims by themselves ──

PendingClaim waiting(std::uint64_t ticket, ClaimFilter filter = {}, int limit = 1,
                     Timestamp until = at(100)) {
    PendingClaim claim;
    claim.items.push_back(
        {.filter = std::move(filter), .limit = limit, .wait_until = until, .ticket = ticket});
    return claim;
}

std::vector<std::uint64_t> tickets(const std::vector<PendingClaim>& claims) {
    std::vector<std::uint64_t> found;
    for (const PendingClaim& claim : claims) found.push_back(claim.items.front().ticket);
    return found;
}

using Tickets = std::vector<std::uint64_t>;

std::vector<Readied> ready(int count, std::string type = "work") {
    return {{.lane = {.tenant = "default", .queue = "default", .type = std::move(type)},
             .count = count}};
}

TEST(WaitingClaims, WakesAsManyClaimsAsThereAreJobsTheLongestWaitingFirst) {
    WaitingClaims claims;
    for (const std::uint64_t ticket : {3u, 1u, 2u, 4u}) claims.park(waiting(ticket));

    EXPECT_EQ(tickets(claims.wake(ready(2))), (Tickets{1, 2}));
    EXPECT_EQ(claims.size(), 2u);
}

TEST(WaitingClaims, CountsWhatAClaimMayTake) {
    WaitingClaims claims;
    claims.park(waiting(1, {}, 3));
    claims.park(waiting(2, {}, 3));
    claims.park(waiting(3, {}, 3));

    EXPECT_EQ(tickets(claims.wake(ready(4))), (Tickets{1, 2}));
}

TEST(WaitingClaims, WakesTheLongestWaitingAcrossFilters) {
    WaitingClaims claims;
    claims.park(waiting(5, {}));
    claims.park(waiting(4, {.types = {"work"}}));
    claims.park(waiting(3, {.types = {"other"}}));
    claims.park(waiting(2, {.tenant = "stranger"}));
    claims.park(waiting(1, {.queues = {"elsewhere"}}));

    EXPECT_EQ(tickets(claims.wake(ready(5))), (Tickets{4, 5}));
    EXPECT_EQ(claims.size(), 3u);
}

TEST(WaitingClaims, WakesNobodyForNothing) {
    WaitingClaims claims;
    claims.park(waiting(1, {.types = {"work"}}));

    EXPECT_TRUE(claims.wake({}).empty());
    EXPECT_TRUE(claims.wake(ready(3, "other")).empty());
    EXPECT_EQ(claims.size(), 1u);
}

TEST(WaitingClaims, PutsAClaimThatWasWokenForNothingBackInItsPlace) {
    WaitingClaims claims;
    claims.park(waiting(1));
    claims.park(waiting(2));
    auto woken = claims.wake(ready(1));

    claims.park(std::move(woken.at(0)));

    EXPECT_EQ(tickets(claims.wake(ready(1))), (Tickets{1}));
}

TEST(WaitingClaims, LetsGoWhoseTimeIsOver) {
    WaitingClaims claims;
    claims.park(waiting(1, {}, 1, at(30)));
    claims.park(waiting(2, {}, 1, at(10)));
    claims.park(waiting(3, {}, 1, at(20)));
    EXPECT_EQ(claims.next_timeout(), at(10));

    EXPECT_TRUE(claims.timed_out(at(10) - 1us).empty());
    EXPECT_EQ(tickets(claims.timed_out(at(20))), (Tickets{2, 3}));
    EXPECT_EQ(claims.next_timeout(), at(30));
}

TEST(WaitingClaims, ForgetsATicketOnce) {
    WaitingClaims claims;
    claims.park(waiting(1));
    claims.park(waiting(2));

    EXPECT_TRUE(claims.forget(1));
    EXPECT_FALSE(claims.forget(1));
    EXPECT_FALSE(claims.forget(9));
    EXPECT_EQ(tickets(claims.wake(ready(2))), (Tickets{2}));
    EXPECT_EQ(claims.next_timeout(), never);
}

TEST(WaitingClaims, IsEmptyWhenCleared) {
    WaitingClaims claims;
    for (const std::uint64_t ticket : {1u, 2u, 3u}) claims.park(waiting(ticket));

    EXPECT_EQ(claims.clear().size(), 3u);
    EXPECT_EQ(claims.size(), 0u);
    EXPECT_EQ(claims.next_timeout(), never);
}

// ── waiting at the engine ──

TEST(WaitingClaim, IsAnsweredByASubmit) {
    TestEngine engine;
    const auto claim = engine.wait(60s);
    EXPECT_FALSE(*claim);
    EXPECT_EQ(engine.engine().waiting_claims(), 1u);
    engine.advance(5s);

    const Job job = engine.submit(spec());

    ASSERT_TRUE(*claim);
    ASSERT_EQ(ids_of(***claim), (std::vector{job.spec->id}));
    EXPECT_EQ((***claim)[0].lease->until, at(35));
    EXPECT_EQ(engine.engine().waiting_claims(), 0u);
}

TEST(WaitingClaim, IsNotParkedWhenThereIsSomething) {
    TestEngine engine;
    engine.submit(spec());

    const auto claim = engine.wait(60s);

    ASSERT_TRUE(*claim);
    EXPECT_EQ((***claim).size(), 1u);
}

TEST(WaitingClaim, IsWokenOncePerJobTheLongestWaitingFirst) {
    TestEngine engine;
    const auto first = engine.wait(60s);
    const auto second = engine.wait(60s);
    const auto third = engine.wait(60s);

    engine.submit_all({spec(), spec()});

    EXPECT_TRUE(*first);
    EXPECT_TRUE(*second);
    EXPECT_FALSE(*third);
}

TEST(WaitingClaim, ComesBeforeAClaimThatHasJustCome) {
    TestEngine engine;
    const auto old = engine.wait(60s);
    Batch batch;
    const auto fresh = put(batch, engine.claim_command());
    put(batch, submission({spec()}));

    engine.run(batch);

    ASSERT_TRUE(*old);
    EXPECT_EQ((***old).size(), 1u);
    EXPECT_TRUE((***fresh).empty());
}

TEST(WaitingClaim, GoesOnWaitingWhenTheJobIsNotForIt) {
    TestEngine engine;
    const auto claim = engine.wait(60s, {.types = {"other"}});

    engine.submit(spec());
    EXPECT_FALSE(*claim);

    engine.submit(spec("other"));
    EXPECT_TRUE(*claim);
}

TEST(WaitingClaim, IsAnsweredWithNothingWhenItsTimeIsOver) {
    TestEngine engine;
    const auto claim = engine.wait(60s);

    engine.advance(60s - 1us);
    EXPECT_FALSE(*claim);
    EXPECT_EQ(engine.engine().next_due(), at(60));

    engine.advance(1us);
    ASSERT_TRUE(*claim);
    EXPECT_TRUE((***claim).empty());
    EXPECT_EQ(engine.engine().next_due(), never);
}

TEST(WaitingClaim, IsAnsweredWhenAJobsTimeComes) {
    TestEngine engine;
    JobSpec later = spec();
    later.run_after = at(20);
    engine.submit(later);
    const auto claim = engine.wait(60s);

    engine.advance(20s - 1us);
    EXPECT_FALSE(*claim);

    engine.advance(1us);
    ASSERT_TRUE(*claim);
    EXPECT_EQ((***claim).size(), 1u);
}

TEST(WaitingClaim, IsAnsweredWhenAKeyIsFreed) {
    TestEngine engine;
    JobSpec keyed = spec();
    keyed.exclusive_keys = {"k"};
    const Job holder = engine.start(keyed);
    const Job next = engine.submit(keyed);
    const auto claim = engine.wait(60s);
    EXPECT_FALSE(*claim);

    engine.report(holder, Outcome::succeeded);

    ASSERT_TRUE(*claim);
    EXPECT_EQ(ids_of(***claim), (std::vector{next.spec->id}));
}

TEST(WaitingClaim, IsAnsweredWhenADependencyEndsALeaseIsLostOrAJobIsHandedBack) {
    TestEngine engine;
    JobSpec twice = spec("first");
    twice.max_attempts = 2;
    const Job first = engine.start(twice);
    JobSpec after = spec("second");
    after.depends_on = {first.spec->id};
    engine.submit(after);

    const auto lost = engine.wait(60s);
    engine.advance(TestEngine::term);
    ASSERT_TRUE(*lost);

    const auto handed_back = engine.wait(60s);
    engine.hand_back((***lost).at(0));
    ASSERT_TRUE(*handed_back);

    const auto unblocked = engine.wait(60s);
    engine.report((***handed_back).at(0), Outcome::succeeded);
    ASSERT_TRUE(*unblocked);
    EXPECT_EQ((***unblocked).at(0).spec->type, "second");
}

TEST(WaitingClaim, IsAnsweredWhenTheOneBeforeItTakesAnotherJobOfTheSameCommit) {
    TestEngine engine;
    const auto any = engine.wait(60s);
    const auto picky = engine.wait(60s, {.types = {"a"}});
    JobSpec urgent = spec("b");
    urgent.priority = 9;

    engine.submit_all({spec("a"), urgent});

    ASSERT_TRUE(*any);
    EXPECT_EQ((***any).at(0).spec->type, "b");
    ASSERT_TRUE(*picky) << "a job of type a is left, and a claim that wants it waits";
    EXPECT_EQ((***picky).at(0).spec->type, "a");
}

TEST(WaitingClaim, OfTwoForOneKeyOnlyOneIsAnswered) {
    TestEngine engine;
    const auto first = engine.wait(60s);
    const auto second = engine.wait(60s);
    JobSpec keyed = spec();
    keyed.exclusive_keys = {"k"};

    engine.submit_all({keyed, keyed});
    ASSERT_TRUE(*first);
    EXPECT_FALSE(*second);

    engine.report((***first).at(0), Outcome::succeeded);
    EXPECT_TRUE(*second);
}

TEST(WaitingClaim, ThatIsForgottenIsAnsweredWithNothingAndTakesNothing) {
    TestEngine engine;
    const auto claim = engine.wait(60s);

    engine.forget(engine.last_ticket());
    ASSERT_TRUE(*claim);
    EXPECT_TRUE((***claim).empty());

    engine.submit(spec());
    EXPECT_EQ(engine.claim().size(), 1u);
}

TEST(WaitingClaim, ThatIsForgottenInItsOwnBatchTakesNothing) {
    TestEngine engine;
    engine.submit(spec());
    Batch batch;
    ClaimJobs command = engine.claim_command();
    command.wait_until = at(60);
    batch.forgotten.push_back(command.ticket);
    const auto claim = put(batch, command);

    engine.run(batch);

    ASSERT_TRUE(*claim);
    EXPECT_TRUE((***claim).empty());
    EXPECT_EQ(engine.claim().size(), 1u);
}

TEST(WaitingClaim, IsLetGoWhenTheEngineStops) {
    TestEngine engine;
    const auto old = engine.wait(60s);

    engine.engine().stop_waiting();
    engine.run();
    ASSERT_TRUE(*old);
    EXPECT_TRUE((***old).empty());

    const auto fresh = engine.wait(60s);
    ASSERT_TRUE(*fresh);
    EXPECT_TRUE((***fresh).empty());
    EXPECT_EQ(engine.engine().waiting_claims(), 0u);
}

TEST(WaitingClaim, ThatTakesSeveralIsAnsweredWithWhatThereIs) {
    TestEngine engine;
    const auto claim = engine.wait(60s, {}, 10);

    engine.submit_all({spec(), spec()});

    EXPECT_EQ((***claim).size(), 2u);
}

TEST(AnIdleEngine, HasNothingDue) {
    TestEngine engine;
    engine.run();

    EXPECT_EQ(engine.engine().next_due(), never);
}

}  // namespace waiting_claims_test
}  // namespace sluice
