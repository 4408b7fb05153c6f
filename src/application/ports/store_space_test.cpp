#include "application/ports/store_space.hpp"

#include <gtest/gtest.h>

namespace sluice {
namespace store_space_test {

TEST(ReserveState, GivesTheReserveUpOnce) {
    ReserveState state;

    EXPECT_EQ(state.space(), StoreSpace::ample);
    EXPECT_TRUE(state.did_not_fit());
    EXPECT_EQ(state.space(), StoreSpace::reserve);
    EXPECT_FALSE(state.did_not_fit());
    EXPECT_EQ(state.space(), StoreSpace::full);
    EXPECT_FALSE(state.did_not_fit());
}

TEST(ReserveState, IsFullUntilAWriteFits) {
    ReserveState state;
    state.did_not_fit();
    state.did_not_fit();

    state.fitted();

    EXPECT_EQ(state.space(), StoreSpace::reserve);
    state.fitted();
    EXPECT_EQ(state.space(), StoreSpace::reserve) << "only what is taken back ends it";
}

TEST(ReserveState, HasRoomAgainOnceTheReserveIsTakenBack) {
    ReserveState state(StoreSpace::reserve);

    state.taken_back();

    EXPECT_EQ(state.space(), StoreSpace::ample);
    EXPECT_TRUE(state.did_not_fit()) << "and it can be given up again";
}

TEST(ReserveState, TakesBackOnlyWhereAsMuchIsLeftBesides) {
    EXPECT_FALSE(ReserveState::may_take_back(100, 100));
    EXPECT_FALSE(ReserveState::may_take_back(199, 100));
    EXPECT_TRUE(ReserveState::may_take_back(200, 100));
}

static_assert(may_run(burden_of<SubmitJobs>, StoreSpace::ample));
static_assert(may_run(burden_of<ClaimJobs>, StoreSpace::ample));

template <class... Commands>
constexpr bool run_in(StoreSpace space) {
    return (may_run(burden_of<Commands>, space) && ...);
}
template <class... Commands>
constexpr bool refused_in(StoreSpace space) {
    return (!may_run(burden_of<Commands>, space) && ...);
}
static_assert(run_in<Heartbeat, Report, HandBack, CancelJob, AppendLogs>(StoreSpace::reserve));
static_assert(run_in<ExplainJob, AskDepths, AskWorkers>(StoreSpace::full));
static_assert(refused_in<SubmitJobs, ReplayJob, ClaimJobs, EntityAction>(StoreSpace::reserve));
static_assert(refused_in<SubmitJobs, ReplayJob, ClaimJobs, EntityAction>(StoreSpace::full));

TEST(MayRun, StoresSomeLogLinesFromTheReserve) {
    EXPECT_TRUE(may_run(Burden::logs, StoreSpace::reserve, log_bytes_in_reserve - 1));
    EXPECT_FALSE(may_run(Burden::logs, StoreSpace::reserve, log_bytes_in_reserve));
    EXPECT_TRUE(may_run(Burden::logs, StoreSpace::ample, log_bytes_in_reserve));
}

}  // namespace store_space_test
}  // namespace sluice
