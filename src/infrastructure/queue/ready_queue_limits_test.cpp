// Claims of a queue whose lanes are closed and opened by rules.
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <random>

#include "infrastructure/queue/ready_queue.hpp"

namespace sluice {
namespace ready_queue_limits_test {

using Ids = std::vector<JobId>;

constexpr Timestamp at(int seconds) {
    return from_micros(std::int64_t{seconds} * 1'000'000);
}

const ClaimFilter anything;

JobSpec from(std::int64_t id, std::string source) {
    JobSpec made;
    made.id = JobId{id};
    made.type = "work";
    made.source = std::move(source);
    return made;
}

void set_rules(ReadyQueue& queue, std::vector<LimitRule> rules, Timestamp now) {
    static std::int64_t version = 0;
    queue.set_rules(
        std::make_shared<const LimitRules>(++version, std::move(rules), LimitRules::Profiles{}),
        now);
}

LimitRule limit(std::string id, CountedBy per = {}) {
    LimitRule rule{.id = std::move(id)};
    rule.per = per;
    return rule;
}

// Any of many lanes may be closed, for any reason and for any time: a claim finds a job if and only
// if the rules permit one, without anybody having been told before.
TEST(ReadyQueueWithLimits, FindsEveryJobThatRulesPermitWhateverWasClosedBefore) {
    for (unsigned seed = 1; seed <= 20; ++seed) {
        std::mt19937 random(seed);
        const auto below = [&](int end) { return static_cast<int>(random() % unsigned(end)); };
        ReadyQueue queue;
        Timestamp now = at(1000);
        std::int64_t last = 0;
        std::map<std::int64_t, std::string> queued;
        std::map<std::int64_t, std::string> leased;
        const auto change_rules = [&] {
            LimitRule few = limit("a");
            few.max_active = 2;
            LimitRule one_each = limit("b", {Dimension::source});
            one_each.max_active = 1;
            LimitRule slow = limit("c", {Dimension::source});
            slow.rate = LimitRate{.count = 1, .period = from_millis(20), .burst = 1};
            LimitRule paused = limit("d");
            paused.scope.source = "s1";
            paused.paused = true;
            if (below(2) == 0) paused.until = now + from_millis(30);
            std::vector<LimitRule> rules{few, one_each, slow, paused};
            std::shuffle(rules.begin(), rules.end(), random);
            rules.resize(static_cast<std::size_t>(below(4)));
            set_rules(queue, std::move(rules), now);
        };
        queue.newly_ready(now);
        for (int i = 0; i < 1500; ++i) {
            switch (below(8)) {
                case 0:
                case 1:
                case 2: {
                    const std::string source = "s" + std::to_string(below(5));
                    queued[++last] = source;
                    queue.add(from(last, source), at(0), false);
                    break;
                }
                case 3:
                    if (!leased.empty()) {
                        queue.release(JobId{leased.begin()->first});
                        leased.erase(leased.begin());
                    }
                    break;
                case 4:
                    if (!queued.empty() && below(4) == 0) {
                        const auto [id, source] = *queued.begin();
                        ASSERT_TRUE(queue.remove(from(id, source), at(0)));
                        queued.erase(id);
                    }
                    break;
                case 5: now += from_millis(below(3)); break;
                case 6:
                    if (below(3) == 0) queue.newly_ready(now);
                    break;
                default:
                    if (below(20) == 0) change_rules();
            }
            if (below(3) != 0) continue;
            const LimitRules& rules = *queue.permits().rules();
            std::int64_t first = 0;
            for (const auto& [id, source] : queued) {
                const Lane lane = lane_of(from(id, source));
                const auto permits = rules.permits_of(lane);
                std::vector<MeterId> ids;
                for (const Permit& permit : permits) ids.push_back(permit.meter);
                const auto meters = queue.permits().meters_of(ids);
                if (!closed_permits(lane, permits, meters, now).empty()) continue;
                first = id;
                break;
            }
            const Ids taken = queue.take(anything, 1, now);
            ASSERT_EQ(taken, first == 0 ? Ids{} : Ids{JobId{first}}) << "seed " << seed;
            if (first != 0) leased.insert(queued.extract(first));
        }
    }
}

TEST(ReadyQueueWithLimits, DoesNotWalkOverLanesThatRulesClose) {
    constexpr int many = 1000;
    ReadyQueue queue;
    LimitRule paused = limit("a");
    paused.scope.source = "closed.*";
    paused.paused = true;
    set_rules(queue, {paused}, at(0));
    for (int id = 1; id <= many; ++id) {
        queue.add(from(id, "closed." + std::to_string(id)), at(0), false);
    }
    queue.newly_ready(at(0));
    queue.add(from(many + 1, "open"), at(0), false);

    EXPECT_EQ(queue.take(anything, many, at(0)), Ids{JobId{many + 1}});
    EXPECT_EQ(queue.walked_lanes(), 1u) << "the one that is open";
    EXPECT_EQ(queue.lanes(10).size(), std::size_t{many + 1});
    EXPECT_EQ(queue.depths().size(), std::size_t{many});
    queue.add(from(many + 2, "closed.7"), at(0), false);
    EXPECT_EQ(queue.walked_lanes(), 1u);

    set_rules(queue, {}, at(0));
    EXPECT_EQ(queue.take(anything, 2 * many, at(0)).size(), std::size_t{many + 1});
}

// The sanitizer for addresses watches this, too.
TEST(ReadyQueueWithLimits, LooksAtNoMeterWhoseManyWaitingLanesAreGone) {
    LimitRule one_each = limit("a", {Dimension::tenant});
    one_each.max_active = 1;
    ReadyQueue queue;
    queue.newly_ready(at(0));
    set_rules(queue, {one_each}, at(0));
    const auto commit = [&](Timestamp now) {
        queue.newly_ready(now);
        queue.permits().keep_changes();
    };
    std::vector<JobSpec> waiting;
    queue.add(from(1, "first"), at(0), false);
    ASSERT_EQ(queue.take(anything, 1, at(0)), Ids{JobId{1}});
    for (int id = 2; id <= 601; ++id) {
        waiting.push_back(from(id, "source " + std::to_string(id)));
        queue.add(waiting.back(), at(0), false);
    }
    commit(at(0));

    queue.release(JobId{1});
    for (const JobSpec& job : waiting) queue.remove(job, at(0));
    commit(at(0));

    EXPECT_EQ(queue.next_due(), never);
    for (int id = 1000; id < 4000; ++id) {  // meters that nobody needs must make room
        JobSpec other = from(id, "");
        other.tenant = "tenant " + std::to_string(id);
        queue.add(other, at(0), false);
        commit(at(0) + from_millis(1));
    }
    commit(at(1));
}

}  // namespace ready_queue_limits_test
}  // namespace sluice
