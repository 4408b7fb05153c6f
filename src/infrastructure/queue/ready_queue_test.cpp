#include "infrastructure/queue/ready_queue.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>

namespace sluice {
namespace ready_queue_test {

using Ids = std::vector<JobId>;

constexpr Timestamp at(int seconds) {
    return from_micros(std::int64_t{seconds} * 1'000'000);
}

JobSpec spec(std::int64_t id, std::string type = "work", int priority = 0) {
    JobSpec made;
    made.id = JobId{id};
    made.type = std::move(type);
    made.priority = priority;
    return made;
}

JobSpec with_keys(JobSpec made, std::vector<std::string> keys) {
    made.exclusive_keys = std::move(keys);
    return made;
}

int readied(ReadyQueue& queue, Timestamp now) {
    int count = 0;
    for (const Readied& lane : queue.newly_ready(now)) count += lane.count;
    return count;
}

const ClaimFilter anything;

TEST(ReadyQueue, GivesHigherPriorityFirstThenOlder) {
    ReadyQueue queue;
    queue.add(spec(3), at(0), false);
    queue.add(spec(1), at(0), false);
    queue.add(spec(4, "work", 5), at(0), false);
    queue.add(spec(2, "other", -1), at(0), false);

    EXPECT_EQ(queue.take(anything, 3, at(0)), (Ids{{4}, {1}, {3}}));
    EXPECT_EQ(queue.take(anything, 3, at(0)), (Ids{{2}}));
    EXPECT_EQ(queue.take(anything, 3, at(0)), Ids{});
    EXPECT_EQ(queue.size(), 0u);
}

TEST(ReadyQueue, LetsARetryWaitAlsoWhenTheClockWasSetBackSinceTheJobWasCreated) {
    ReadyQueue queue;
    JobSpec job = spec(1);
    job.created_at = job.run_after = at(3600);
    queue.add(job, at(3600), false);
    EXPECT_EQ(queue.take(anything, 1, at(0)), Ids{{1}}) << "it asked for no delay";

    queue.release(job.id);
    queue.add(job, at(15), false);

    EXPECT_EQ(queue.take(anything, 1, at(14)), Ids{});
    EXPECT_EQ(queue.take(anything, 1, at(15)), Ids{{1}});
}

TEST(ReadyQueue, GivesAJobOnceItsTimeHasCome) {
    ReadyQueue queue;
    queue.add(spec(1), at(10), false);

    EXPECT_EQ(queue.next_due(), at(10));
    EXPECT_EQ(queue.take(anything, 1, at(9)), Ids{});
    EXPECT_EQ(queue.take(anything, 1, at(10)), Ids{{1}});
    EXPECT_EQ(queue.next_due(), never);
}

TEST(ReadyQueue, DoesNotWatchTheTimeOfAJobThatWasDueWhenItWasCreated) {
    ReadyQueue queue;
    JobSpec job = spec(1);
    job.created_at = job.run_after = at(100);

    queue.add(job, at(100), false);

    EXPECT_EQ(queue.next_due(), never);
    EXPECT_EQ(queue.take(anything, 1, at(100)), Ids{{1}});
}

TEST(ReadyQueue, KeepsABlockedJobUntilItIsUnblocked) {
    ReadyQueue queue;
    JobSpec job = spec(3);
    job.depends_on = {JobId{1}, JobId{2}};
    queue.add(job, at(5), true);

    EXPECT_EQ(queue.dependents(Ids{{2}, {1}}), Ids{{3}});
    EXPECT_EQ(queue.take(anything, 1, at(6)), Ids{});

    queue.unblock(job, at(7));

    EXPECT_EQ(queue.dependents(Ids{{1}}), Ids{});
    EXPECT_EQ(queue.take(anything, 1, at(6)), Ids{});
    EXPECT_EQ(queue.take(anything, 1, at(7)), Ids{{3}});
}

TEST(ReadyQueue, RemovesAJobWhereverItIs) {
    ReadyQueue queue;
    JobSpec blocked = spec(3);
    blocked.depends_on = {JobId{1}};
    const JobSpec parked = with_keys(spec(5), {"k"});
    queue.add(spec(1), at(0), false);
    queue.add(spec(2), at(90), false);
    queue.add(blocked, at(0), true);
    queue.hold(with_keys(spec(4), {"k"}));
    queue.add(parked, at(0), false);
    ASSERT_EQ(queue.size(), 4u);

    EXPECT_TRUE(queue.remove(spec(1), at(0)));
    EXPECT_TRUE(queue.remove(spec(2), at(90)));
    EXPECT_TRUE(queue.remove(blocked, at(0)));
    EXPECT_TRUE(queue.remove(parked, at(0)));

    EXPECT_FALSE(queue.remove(spec(1), at(0)));
    queue.release(JobId{4});
    EXPECT_EQ(queue.take(anything, 9, at(99)), Ids{});
    EXPECT_EQ(queue.dependents(Ids{{1}}), Ids{});
    EXPECT_EQ(queue.size(), 0u);
    EXPECT_TRUE(queue.depths().empty());
}

TEST(ReadyQueue, HoldsTheKeysOfATakenJobUntilTheyAreFreed) {
    ReadyQueue queue;
    queue.add(with_keys(spec(1), {"a", "b", "a"}), at(0), false);
    queue.add(with_keys(spec(2), {"b"}), at(0), false);
    queue.add(spec(3), at(0), false);

    EXPECT_EQ(queue.take(anything, 9, at(0)), (Ids{{1}, {3}}));
    EXPECT_EQ(queue.holder("default", "key=b"), JobId{1});
    EXPECT_EQ(queue.holder("other", "key=b"), std::nullopt);
    EXPECT_EQ(queue.take(anything, 9, at(0)), Ids{});

    queue.release(JobId{1});

    EXPECT_EQ(queue.holder("default", "key=a"), std::nullopt);
    EXPECT_EQ(queue.take(anything, 9, at(0)), Ids{{2}});
}

TEST(ReadyQueue, LetsTheNextOneLeadWhenTheFirstIsCanceledOrMustWaitForAnotherKey) {
    ReadyQueue queue;
    queue.hold(with_keys(spec(1), {"a"}));
    for (const std::int64_t id : {2, 3, 4}) {
        queue.add(with_keys(spec(id), {"a"}), at(0), false);
    }
    queue.add(with_keys(spec(5, "work", 1), {"a", "b"}), at(0), false);
    queue.release(JobId{1});
    queue.hold(with_keys(spec(6), {"b"}));

    EXPECT_TRUE(queue.remove(with_keys(spec(2), {"a"}), at(0)));
    EXPECT_EQ(queue.take(anything, 9, at(0)), Ids{{3}});
    queue.release(JobId{6});
    queue.release(JobId{3});
    EXPECT_EQ(queue.take(anything, 9, at(0)), Ids{{5}});
    queue.release(JobId{5});
    EXPECT_EQ(queue.take(anything, 9, at(0)), Ids{{4}});
}

TEST(ReadyQueue, CountsWhatEntersALaneSinceTheLastCall) {
    ReadyQueue queue;
    JobSpec blocked = spec(3, "other");
    blocked.depends_on = {JobId{1}};
    queue.add(spec(1), at(0), false);
    queue.add(spec(2), at(10), false);
    queue.add(blocked, at(0), true);

    std::vector<Readied> first = queue.newly_ready(at(0));
    ASSERT_EQ(first.size(), 1u);
    EXPECT_EQ(first[0].lane.type, "work");
    EXPECT_EQ(first[0].count, 1);
    EXPECT_EQ(readied(queue, at(9)), 0);
    EXPECT_EQ(readied(queue, at(10)), 1);
    queue.unblock(blocked, at(0));
    EXPECT_EQ(readied(queue, at(10)), 1);
}

TEST(ReadyQueue, FreesAKeyThatTenThousandWaitForWithOneMove) {
    constexpr int jobs = 10'000;
    ReadyQueue queue;
    for (int id = 1; id <= jobs; ++id) queue.add(with_keys(spec(id), {"k"}), at(0), false);
    ASSERT_EQ(readied(queue, at(0)), jobs);

    int moves = 0;
    for (int id = 1; id <= jobs; ++id) {
        ASSERT_EQ(queue.take(anything, 100, at(0)), Ids{{id}});
        queue.release(JobId{id});
        moves += readied(queue, at(0));
    }

    EXPECT_EQ(moves, jobs - 1);
    EXPECT_EQ(queue.size(), 0u);
}

TEST(ReadyQueue, ForgetsEverythingWhenCleared) {
    ReadyQueue queue;
    queue.add(spec(1), at(0), false);
    queue.add(spec(2), at(50), false);
    queue.hold(with_keys(spec(3), {"k"}));
    EXPECT_EQ(queue.take(anything, 1, at(40)), Ids{{1}});

    queue.clear();
    queue.add(spec(4), at(30), false);

    EXPECT_EQ(queue.size(), 1u);
    EXPECT_EQ(queue.holder("default", "key=k"), std::nullopt);
    EXPECT_EQ(readied(queue, at(0)), 0);
    EXPECT_EQ(queue.next_due(), at(30));
}

// The promises of the queue, kept the slow way: looks at every job for each one that is taken.
class Model {
  public:
    struct Entry {
        JobSpec spec;
        Timestamp run_after{};
        bool blocked = false;
    };

    Ids take(const ClaimFilter& filter, int limit, Timestamp now) {
        Ids taken;
        while (std::ssize(taken) < limit) {
            auto best = queued.end();
            for (auto job = queued.begin(); job != queued.end(); ++job) {
                if (!is_claimable(*job, filter, now)) continue;
                if (best == queued.end() || goes_before(job->spec, best->spec)) best = job;
            }
            if (best == queued.end()) break;
            taken.push_back(best->spec.id);
            held.push_back(best->spec);
            queued.erase(best);
        }
        return taken;
    }

    std::vector<Entry> queued;
    std::vector<JobSpec> held;

  private:
    static bool goes_before(const JobSpec& a, const JobSpec& b) {
        return a.priority != b.priority ? a.priority > b.priority : a.id < b.id;
    }

    bool is_claimable(const Entry& job, const ClaimFilter& filter, Timestamp now) const {
        if (job.blocked || job.run_after > now || !filter.accepts(lane_of(job.spec))) return false;
        const std::vector<std::string> keys = held_keys(job.spec);
        return std::none_of(held.begin(), held.end(), [&](const JobSpec& other) {
            if (other.tenant != job.spec.tenant) return false;
            const std::vector<std::string> taken = held_keys(other);
            return std::find_first_of(keys.begin(), keys.end(), taken.begin(), taken.end()) !=
                   keys.end();
        });
    }
};

// Applies the same random changes to a queue and to a model, and compares the results.
class RandomWalk {
  public:
    RandomWalk(unsigned seed, int key_count) : random_(seed), key_count_(key_count) {}

    void step() {
        switch (below(8)) {
            case 0:
            case 1:
            case 2: add(); break;
            case 3:
            case 4: take(); break;
            case 5: free_one(); break;
            case 6: below(2) == 0 ? remove_one() : unblock_one(); break;
            default: now_ += std::chrono::seconds(below(3)); break;
        }
        ASSERT_EQ(queue_.size(), model_.queued.size());
    }

    void drain() {
        now_ = at(1'000'000);
        while (!model_.queued.empty() || !model_.held.empty()) {
            unblock_one();
            take();
            free_one();
            if (testing::Test::HasFatalFailure()) return;
        }
        EXPECT_TRUE(queue_.depths().empty());
        EXPECT_EQ(queue_.next_due(), never);
    }

  private:
    int below(int end) { return std::uniform_int_distribution(0, end - 1)(random_); }
    std::string one_of(const std::vector<std::string>& names) {
        return names[static_cast<std::size_t>(below(static_cast<int>(names.size())))];
    }
    auto any_of(auto& list) { return list.begin() + below(static_cast<int>(list.size())); }

    void add() {
        // Ids mostly increase; now and then one comes late.
        next_id_ += 2;
        JobSpec job =
            spec(below(5) == 0 ? next_id_ - 1001 : next_id_, one_of({"x", "y", "z"}), below(3) - 1);
        job.tenant = one_of({"default", "acme"});
        job.queue = one_of({"default", "slow"});
        if (below(4) == 0) job.labels = {"gpu"};
        if (below(6) == 0) job.site_id = one_of({"s1", "s2"});
        const int keys = below(3);
        for (int i = 0; i < keys; ++i) {
            job.exclusive_keys.push_back("k" + std::to_string(below(key_count_)));
        }
        Model::Entry entry{job, now_ + std::chrono::seconds(below(8) - 4), below(6) == 0};
        if (entry.blocked) entry.spec.depends_on = {JobId{next_id_ + 1'000'000}};
        queue_.add(entry.spec, entry.run_after, entry.blocked);
        model_.queued.push_back(entry);
    }

    void take() {
        ClaimFilter filter{.tenant = one_of({"default", "acme"})};
        filter.any_tenant = below(4) == 0;
        if (below(2) == 0) filter.queues = {"default"};
        if (below(2) == 0) filter.types = {"x", "z"};
        if (below(2) == 0) filter.labels = {"cpu", "gpu"};
        const int limit = below(6);
        ASSERT_EQ(queue_.take(filter, limit, now_), model_.take(filter, limit, now_));
    }

    void free_one() {
        if (model_.held.empty()) return;
        const auto job = any_of(model_.held);
        queue_.release(job->id);
        model_.held.erase(job);
    }

    void remove_one() {
        if (model_.queued.empty()) return;
        const auto job = any_of(model_.queued);
        ASSERT_TRUE(queue_.remove(job->spec, job->run_after));
        ASSERT_FALSE(queue_.remove(job->spec, job->run_after));
        model_.queued.erase(job);
    }

    void unblock_one() {
        const auto job = std::find_if(model_.queued.begin(), model_.queued.end(),
                                      [](const Model::Entry& entry) { return entry.blocked; });
        if (job == model_.queued.end()) return;
        ASSERT_EQ(queue_.dependents(job->spec.depends_on), Ids{job->spec.id});
        queue_.unblock(job->spec, job->run_after);
        job->blocked = false;
    }

    ReadyQueue queue_;
    Model model_;
    std::mt19937 random_;
    int key_count_;
    std::int64_t next_id_ = 10'000;
    Timestamp now_ = at(100);
};

TEST(ReadyQueue, GivesClaimsTogetherWhatItGivesThemOneByOne) {
    const ClaimFilter filters[] = {{}, {.types = {"a"}}, {.types = {"a", "b"}}};
    for (unsigned seed = 1; seed <= 100; ++seed) {
        std::mt19937 random(seed);
        const auto below = [&](int end) {
            return std::uniform_int_distribution(0, end - 1)(random);
        };
        ReadyQueue together;
        ReadyQueue one_by_one;
        for (std::int64_t id = 1; id <= 12; ++id) {
            JobSpec job = spec(id, std::string(1, static_cast<char>('a' + below(3))), below(2));
            if (below(2) == 0) job.exclusive_keys = {std::to_string(below(3))};
            for (ReadyQueue* queue : {&together, &one_by_one}) queue->add(job, at(0), false);
        }
        std::vector<LeaseStore::Wanted> wanted;
        std::vector<Ids> expected;
        for (int i = 0; i < 8; ++i) {
            wanted.push_back({&filters[below(3)], 1 + below(3)});
            expected.push_back(one_by_one.take(*wanted.back().filter, wanted.back().limit, at(0)));
        }
        EXPECT_EQ(together.take(wanted, at(0)), expected) << "seed " << seed;
    }
}

TEST(ReadyQueue, TakesExactlyWhatASearchOverAllJobsWouldTake) {
    for (unsigned seed = 1; seed <= 24; ++seed) {
        SCOPED_TRACE(seed);
        RandomWalk walk(seed, seed % 3 == 0 ? 2 : 12);
        for (int i = 0; i < 1500; ++i) {
            walk.step();
            if (testing::Test::HasFatalFailure()) FAIL() << "at step " << i;
        }
        walk.drain();
    }
}

}  // namespace ready_queue_test
}  // namespace sluice
