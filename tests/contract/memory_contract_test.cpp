#include "contract/limits_contract.hpp"
#include "infrastructure/memory/memory_store.hpp"

namespace sluice {
namespace memory_contract_test {

INSTANTIATE_TEST_SUITE_P(Memory, StoreContract,
                         testing::Values(StoreUnderTest{
                             "memory", [] { return std::make_unique<MemoryStore>(); }}),
                         store_name);
INSTANTIATE_TEST_SUITE_P(Memory, LimitContract,
                         testing::Values(StoreUnderTest{
                             "memory", [] { return std::make_unique<MemoryStore>(); }}),
                         store_name);

Job put_one(Session& session, const JobSpec& spec) {
    const Arrival arrival{queued(spec), false};
    session.jobs().put({&arrival, 1});
    return arrival.job;
}

TEST(MemoryStoreDeathTest, OpeningALeaseOnWhatWasNotTakenIsABug) {
    MemoryStore store;
    const auto session = store.begin();
    const Job job = running(put_one(*session, spec(1)), {});

    EXPECT_DEATH(session->leases().open({&job, 1}), "just taken");
}

TEST(MemoryStoreDeathTest, CommittingWhatWasTakenWithoutALeaseIsABug) {
    MemoryStore store;
    const auto session = store.begin();
    put_one(*session, spec(1));
    take(*session, {}, 1, at(0));

    EXPECT_DEATH(session->commit(), "leased in the same session");
}

TEST(MemoryStoreDeathTest, EndingAJobTwiceIsABug) {
    MemoryStore store;
    const auto session = store.begin();
    const Job done = ended(put_one(*session, spec(1)), JobState::canceled, at(1));
    session->jobs().finish({&done, 1});

    EXPECT_DEATH(session->jobs().finish({&done, 1}), "ends once");
}

TEST(MemoryStoreDeathTest, UsingASessionAfterItsCommitIsABug) {
    MemoryStore store;
    const auto session = store.begin();
    session->commit();

    EXPECT_DEATH(session->jobs(), "not used after its commit");
}

}  // namespace memory_contract_test
}  // namespace sluice
