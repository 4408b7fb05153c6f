#pragma once

#include <gtest/gtest.h>

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "application/ports/store.hpp"
#include "support/builders.hpp"

namespace sluice {

struct StoreUnderTest {
    std::string name;

    // A fresh, empty store.
    std::function<std::unique_ptr<Store>()> open;

    // The store that open() gave last, after that one was closed. Empty for a store that is not
    // durable.
    std::function<std::unique_ptr<Store>()> reopen{};

    // Other committers may use it at the same time, so next_due() may name too early a moment.
    bool is_shared = false;
};

inline void PrintTo(const StoreUnderTest& store, std::ostream* out) {
    *out << store.name;
}

// The promises of every store, as in application/ports/store.hpp and job_reader.hpp. The cases are
// in the *_contract.cpp files beside this one; each store adds one line:
//   INSTANTIATE_TEST_SUITE_P(Memory, StoreContract, testing::Values(StoreUnderTest{…}),
//   store_name);
class StoreContract : public testing::TestWithParam<StoreUnderTest> {
  protected:
    using Ids = std::vector<JobId>;

    // Does `work` in a session and commits it.
    template <class Work>
    auto commit(Work&& work) {
        const auto session = store->begin();
        if constexpr (std::is_void_v<decltype(work(*session))>) {
            work(*session);
            commit(*session);
        } else {
            auto result = work(*session);
            commit(*session);
            return result;
        }
    }

    void commit(Session& session) {
        session.commit();
        for (const Readied& lane : session.reopened()) reopened_ += lane.count;
    }

    // Does `work` in a session that ends without a commit.
    template <class Work>
    void roll_back(Work&& work) {
        const auto session = store->begin();
        work(*session);
    }

    // Closes the store and opens it again; false, and nothing is done, when it is not durable.
    bool reopen();

    // One committed session each. They return the job as it was written.
    Job put(const JobSpec& spec);
    Job put_blocked(const JobSpec& spec);
    Job put_running(const JobSpec& spec, const Claim& claim = {});
    Job open(const Job& queued_job, const Claim& claim = {});
    Job requeue(const Job& job);
    Job finish(const Job& job);
    Job save(const Job& job);
    void close(Job job);

    // The jobs that would be taken now; the session is not committed.
    Ids claimable(Timestamp now, int limit = 100, const ClaimFilter& filter = {});
    // How many jobs became claimable since the last call, as sessions tell.
    int newly_ready(Timestamp now);
    Timestamp next_due();
    std::optional<JobId> holder(const std::string& key, const std::string& tenant = "default");

    std::optional<Job> find(JobId id) { return store->reader()->find_one(id); }
    Ids list(const JobFilter& filter, JobId before = newest, ListLimit limit = 100);

    std::unique_ptr<Store> store = GetParam().open();

  private:
    int reopened_ = 0;
};

// The last argument of INSTANTIATE_TEST_SUITE_P: names a case after its store.
std::string store_name(const testing::TestParamInfo<StoreUnderTest>& info);

// Takes from the queue with one filter.
std::vector<Job> take(Session& session, const ClaimFilter& filter, int limit, Timestamp now);

}  // namespace sluice
