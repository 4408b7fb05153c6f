#include "application/store_room.hpp"

#include <gtest/gtest.h>

namespace sluice {
namespace {

TEST(RoomState, GivesTheReserveUpOnce) {
    RoomState state;

    EXPECT_EQ(state.room(), StoreRoom::roomy);
    EXPECT_TRUE(state.did_not_fit());
    EXPECT_EQ(state.room(), StoreRoom::reserve);
    EXPECT_FALSE(state.did_not_fit());
    EXPECT_EQ(state.room(), StoreRoom::full);
    EXPECT_FALSE(state.did_not_fit());
}

TEST(RoomState, IsFullUntilAWriteFits) {
    RoomState state;
    state.did_not_fit();
    state.did_not_fit();

    state.fitted();

    EXPECT_EQ(state.room(), StoreRoom::reserve);
    state.fitted();
    EXPECT_EQ(state.room(), StoreRoom::reserve) << "only what is taken back ends it";
}

TEST(RoomState, HasRoomAgainOnceTheReserveIsTakenBack) {
    RoomState state(StoreRoom::reserve);

    state.taken_back();

    EXPECT_EQ(state.room(), StoreRoom::roomy);
    EXPECT_TRUE(state.did_not_fit()) << "and it can be given up again";
}

TEST(RoomState, TakesBackOnlyWhereAsMuchIsLeftBesides) {
    EXPECT_FALSE(RoomState::may_take_back(100, 100));
    EXPECT_FALSE(RoomState::may_take_back(199, 100));
    EXPECT_TRUE(RoomState::may_take_back(200, 100));
}

static_assert(may_run(burden_of<SubmitJobs>, StoreRoom::roomy));
static_assert(may_run(burden_of<ClaimJobs>, StoreRoom::roomy));

template <class... Commands>
constexpr bool run_in(StoreRoom room) {
    return (may_run(burden_of<Commands>, room) && ...);
}
template <class... Commands>
constexpr bool refused_in(StoreRoom room) {
    return (!may_run(burden_of<Commands>, room) && ...);
}
static_assert(run_in<Heartbeat, Report, HandBack, CancelJob, AppendLogs>(StoreRoom::reserve));
static_assert(run_in<ExplainJob, AskDepths, AskWorkers>(StoreRoom::full));
static_assert(refused_in<SubmitJobs, ReplayJob, ClaimJobs, EntityAction>(StoreRoom::reserve));
static_assert(refused_in<SubmitJobs, ReplayJob, ClaimJobs, EntityAction>(StoreRoom::full));

TEST(MayRun, StoresSomeLogLinesFromTheReserve) {
    EXPECT_TRUE(may_run(Burden::logs, StoreRoom::reserve, log_bytes_in_reserve - 1));
    EXPECT_FALSE(may_run(Burden::logs, StoreRoom::reserve, log_bytes_in_reserve));
    EXPECT_TRUE(may_run(Burden::logs, StoreRoom::roomy, log_bytes_in_reserve));
}

}  // namespace
}  // namespace sluice
