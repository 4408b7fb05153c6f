// Starts that exceed a rate are noticed, by the times of answers and by those of the history.
#include "checker/forged.hpp"

namespace sluice::checker {
namespace start_rules_test {

const Fields of_s{{"source", "s"}};

// Three starts at once after a rest, then one in a second.
const Fields rate_of_s{{"kind", "limit"},
                       {"source", "s"},
                       {"rate_count", 1},
                       {"rate_period_ms", 1000},
                       {"rate_burst", 3}};

void start(Story& story, int count, int pause_ms) {
    for (int i = 0; i < count; ++i) {
        story.pass(pause_ms);
        story.report(story.claim(story.submit(of_s)), "succeeded");
    }
}

TEST(Starts, AreNoticedWhenTheyAreTooMany) {
    Story story;
    story.limit(rate_of_s);
    start(story, 4, 10);

    expect_broken(story, "G2");
}

// All operations of this kind were answered so much later than they could have been.
void answer_later(Story& story, const char* op, std::int64_t milliseconds) {
    for (Fields& operation : story.record) {
        if (text(operation, "op") != op) continue;
        operation["t1"] = operation["t1"].as_int64() + milliseconds * 1000;
    }
}

TEST(Starts, AreNoticedByTheHistoryWhereAnswersCameLate) {
    Story story;
    story.limit(rate_of_s);
    start(story, 3, 10);
    Story kept = story;
    start(kept, 1, 1000);
    start(story, 1, 10);
    answer_later(kept, "claim", 5000);
    answer_later(story, "claim", 5000);

    expect_clean(kept);
    expect_broken(story, "G2");
}

TEST(Starts, AreNoticedByAnswersWhereClocksWereSet) {
    Story story;
    story.limit(rate_of_s);
    start(story, 4, 10);
    story.record.push_back(
        {{"op", "plan"},
         {"outcome", "ok"},
         {"args", Fields{{"slack_ms", 5}, {"clocks_ms", 5}, {"clock_steps", true}}}});
    int hours = 0;
    for (auto& [id, chapter] : story.jobs) {
        for (Fields& event : chapter.events) event["at"] = story.time_in(3'600'000 * hours);
        ++hours;
    }

    expect_broken(story, "G2");
}

TEST(Starts, AreNoticedByARuleThatPermitsOneLess) {
    Story story;
    const std::string rate = story.limit(rate_of_s);
    start(story, 3, 10);
    start(story, 5, 1000);
    expect_clean(story);

    Fields less = rate_of_s;
    less["rate_burst"] = 2;
    story.limit_changes[0]["detail"].as_object()["after"] = less;
    expect_broken(story, "G2");
}

TEST(Starts, AreNoticedWhenTheRateIsExceededLater) {
    Story story;
    story.limit(rate_of_s);
    start(story, 3, 10);
    start(story, 3, 600);

    expect_broken(story, "G2");
}

TEST(Starts, AreCountedWithRetries) {
    Story story;
    story.limit(rate_of_s);
    const std::string id = story.submit(of_s);
    for (int i = 0; i < 4; ++i) story.release(story.claim(id));
    story.cancel(id);

    expect_broken(story, "G2");
}

TEST(Starts, AreNoticedWhenAnHourHasTooMany) {
    Story story;
    story.limit({{"kind", "quota"},
                 {"tenant", "default"},
                 {"rate_count", 2},
                 {"rate_period_ms", 3'600'000},
                 {"rate_burst", 2},
                 {"rate_whole_hour", true}});
    start(story, 2, 10);
    start(story, 1, 1'900'000);

    expect_broken(story, "G2");
}

TEST(Starts, MayBeAsManyAsTheBucketHoldsAndGains) {
    Story story;
    story.limit(rate_of_s);
    start(story, 3, 10);
    start(story, 3, 1000);
    story.pass(3000);
    start(story, 3, 10);

    expect_clean(story);
}

}  // namespace start_rules_test
}  // namespace sluice::checker
