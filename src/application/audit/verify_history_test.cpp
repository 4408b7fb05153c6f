#include "application/audit/verify_history.hpp"

#include <gtest/gtest.h>

#include "support/tampered_reader.hpp"
#include "support/test_engine.hpp"

namespace sluice {
namespace verify_history_test {

using namespace std::chrono_literals;

// A job that was claimed, retried, claimed, canceled and let go: six events.
struct Lived {
    TestEngine engine;
    JobId id;
    TamperedReader reader{engine.store()};

    Lived() {
        JobSpec twice = spec();
        twice.max_attempts = 2;
        const Job first = engine.start(twice);
        id = first.spec->id;
        engine.report(first, Outcome::failed, "E");
        const Job second = engine.claim_one();
        engine.cancel(id);
        engine.report(second, Outcome::canceled);
    }

    std::optional<HistoryBreak> verify() { return verify_history(reader).first_break(); }

    void expect_break(std::int64_t seq, const std::string& what) {
        const auto broken = verify();
        ASSERT_TRUE(broken);
        EXPECT_EQ(broken->job, id);
        EXPECT_EQ(broken->seq, seq);
        EXPECT_NE(broken->what.find(what), std::string::npos) << broken->what;
    }
};

// Makes the hashes fit again from the event at `from` on, as a careful forger would.
void rehash(std::vector<Event>& events, std::size_t from) {
    for (std::size_t i = std::max<std::size_t>(from, 1); i < events.size(); ++i) {
        events[i].hash = chain_hash(events[i - 1].hash, events[i]);
    }
}

TEST(VerifyHistory, FindsNothingWrongWithWhatTheEngineWrote) {
    Lived lived;
    lived.engine.submit(spec());

    const Verification result = verify_history(lived.reader);

    EXPECT_EQ(result.first_break(), std::nullopt);
    EXPECT_EQ(result.jobs, 2);
    EXPECT_EQ(result.events, 7);
}

TEST(VerifyHistory, FindsNothingWrongWithAJobThatIsRemovedMeanwhile) {
    Lived lived;
    lived.reader.change_events = [&](std::vector<Event>& events) {
        const auto session = lived.engine.store().begin();
        if (!session->jobs().find_one(lived.id)) return;
        session->archive().remove(std::vector{lived.id});
        session->commit();
        events.clear();
    };

    EXPECT_EQ(lived.verify(), std::nullopt);
    EXPECT_EQ(lived.engine.count_jobs(), 0u);
}

TEST(VerifyHistory, FindsNothingWrongWithAnEmptyStore) {
    TestEngine engine;

    const Verification result = verify_history(*engine.store().reader());

    EXPECT_EQ(result.jobs, 0);
    EXPECT_FALSE(result.first_break());
}

TEST(VerifyHistory, WalksMoreThanOnePageOfJobsAndEvents) {
    TestEngine engine;
    engine.submit_all(std::vector<JobSpec>(1001, spec()));
    Job job = engine.claim_one();
    for (int i = 0; i < 501; ++i) {
        engine.hand_back(job);
        job = engine.claim_one();
    }

    const Verification result = verify_history(*engine.store().reader());

    EXPECT_FALSE(result.first_break());
    EXPECT_EQ(result.jobs, 1001);
    EXPECT_EQ(result.events, 1001 + 1 + 1002);
}

TEST(VerifyHistory, FindsAChangedPayload) {
    Lived lived;
    lived.reader.change_job = [](Job& job) {
        change_spec(job, [](JobSpec& spec) { spec.payload = "true"; });
    };

    lived.expect_break(0, "payload");
}

TEST(VerifyHistory, FindsAChangedSpec) {
    Lived lived;
    lived.reader.change_job = [](Job& job) {
        change_spec(job, [](JobSpec& spec) { spec.priority = 1; });
    };

    lived.expect_break(1, "hash");
}

TEST(VerifyHistory, FindsAChangedPayloadWhoseDigestWasChangedToo) {
    Lived lived;
    lived.reader.change_job = [](Job& job) {
        change_spec(job, [](JobSpec& spec) {
            spec.payload = "true";
            spec.payload_digest = sha256("true");
        });
    };

    lived.expect_break(1, "hash");
}

TEST(VerifyHistory, FindsAChangeInAnyEvent) {
    for (std::size_t i = 0; i < 6; ++i) {
        Lived lived;
        lived.reader.change_events = [i](std::vector<Event>& events) { events[i].at += 1us; };

        lived.expect_break(std::int64_t(i) + 1, "hash");
    }
}

TEST(VerifyHistory, FindsAnyMissingEvent) {
    for (std::size_t i = 0; i < 5; ++i) {
        Lived lived;
        lived.reader.change_events = [i](std::vector<Event>& events) {
            events.erase(events.begin() + static_cast<std::ptrdiff_t>(i));
        };

        lived.expect_break(std::int64_t(i) + 1, "is missing");
    }
}

TEST(VerifyHistory, FindsAMissingEnd) {
    Lived lived;
    lived.reader.change_events = [](std::vector<Event>& events) { events.pop_back(); };

    lived.expect_break(6, "the job has 6 events, but 5 are there");
}

TEST(VerifyHistory, FindsAMissingHistory) {
    Lived lived;
    lived.reader.change_events = [](std::vector<Event>& events) { events.clear(); };

    lived.expect_break(1, "the job has 6 events, but 0 are there");
}

TEST(VerifyHistory, FindsAnEventTooMany) {
    Lived lived;
    lived.reader.change_events = [](std::vector<Event>& events) {
        Event more = events.back();
        ++more.seq;
        events.push_back(more);
        rehash(events, 6);
    };

    lived.expect_break(8, "the job has 6 events, but 7 are there");
}

TEST(VerifyHistory, FindsSwappedEvents) {
    Lived lived;
    lived.reader.change_events = [](std::vector<Event>& events) {
        std::swap(events[2], events[3]);
        std::swap(events[2].seq, events[3].seq);
    };

    lived.expect_break(3, "hash");
}

TEST(VerifyHistory, FindsAStepThatTheTableDoesNotKnow) {
    Lived lived;
    lived.reader.change_events = [](std::vector<Event>& events) {
        events[2].to = JobState::failed;
        rehash(events, 2);
    };

    lived.expect_break(3, "a running job cannot become failed by being retried");
}

TEST(VerifyHistory, FindsAStepFromAnotherState) {
    Lived lived;
    lived.reader.change_events = [](std::vector<Event>& events) {
        events[1].from = JobState::running;
        rehash(events, 1);
    };

    lived.expect_break(2, "the job was queued before");
}

TEST(VerifyHistory, FindsASecondSubmission) {
    Lived lived;
    lived.reader.change_events = [](std::vector<Event>& events) {
        events[3].step = Step::submitted;
        rehash(events, 3);
    };

    lived.expect_break(4, "submitted once");
}

TEST(VerifyHistory, FindsAClosedLeaseThatChangesTheState) {
    Lived lived;
    lived.reader.change_events = [](std::vector<Event>& events) {
        events[5].to = JobState::succeeded;
        rehash(events, 5);
    };

    lived.expect_break(6, "must not change the state");
}

TEST(VerifyHistory, FindsAFirstEventThatIsNoSubmission) {
    Lived lived;
    const Digest start = genesis(lived.engine.find(lived.id).spec);
    lived.reader.change_events = [start](std::vector<Event>& events) {
        events[0].step = Step::claimed;
        events[0].hash = chain_hash(start, events[0]);
        rehash(events, 1);
    };

    lived.expect_break(1, "the first event is not the submission");
}

TEST(VerifyHistory, FindsAJobInAnotherStateThanItsHistorySays) {
    Lived lived;
    lived.reader.change_job = [](Job& job) { job.now.state = JobState::succeeded; };

    lived.expect_break(6, "the job is succeeded, its history says canceled");
}

TEST(VerifyHistory, FindsALastEventThatWasReplacedTogetherWithItsHash) {
    Lived lived;
    lived.reader.change_events = [](std::vector<Event>& events) {
        events[5].actor = "worker:innocent";
        rehash(events, 5);
    };

    EXPECT_TRUE(lived.verify()) << "the job's head has another hash than its last event";
}

TEST(VerifyHistory, FindsASubmissionThatDidNotQueueTheJob) {
    TestEngine engine;
    const Job job = engine.submit(spec());
    TamperedReader reader(engine.store());
    reader.change_events = [&](std::vector<Event>& events) {
        events[0].to = JobState::succeeded;
        events[0].hash = chain_hash(genesis(job.spec), events[0]);
    };
    reader.change_job = [](Job& changed) { changed.now.state = JobState::succeeded; };

    EXPECT_TRUE(verify_history(reader).first_break());
}

TEST(VerifyHistory, NamesEveryBrokenJob) {
    TestEngine engine;
    const auto jobs = engine.submit_all({spec(), spec(), spec()});
    TamperedReader reader(engine.store());
    reader.change_job = [&](Job& job) {
        if (job.spec->id == jobs[0].spec->id) return;
        change_spec(job, [](JobSpec& spec) { spec.payload = "1"; });
    };

    const Verification result = verify_history(reader);

    ASSERT_EQ(result.breaks.size(), 2u);
    EXPECT_EQ(result.breaks[0].job, jobs[1].spec->id);
    EXPECT_EQ(result.breaks[1].job, jobs[2].spec->id);
    EXPECT_EQ(result.jobs, 3);
}

TEST(VerifyHistory, ComparesHowAJobEndedWithTheEventThatEndedIt) {
    const std::pair<const char*, std::function<void(Job&)>> changes[] = {
        {"time", [](Job& job) { job.now.completed_at = *job.now.completed_at + Duration{1}; }},
        {"attempts", [](Job& job) { ++job.now.attempt; }},
        {"error", [](Job& job) { job.now.error_code = "OTHER"; }},
        {"error", [](Job& job) { job.now.error_message = "nothing to see"; }},
    };
    for (const auto& [what, change] : changes) {
        TestEngine engine;
        JobSpec once = spec();
        once.max_attempts = 1;
        engine.report(engine.start(once), Outcome::failed, "E");
        TamperedReader reader(engine.store());
        EXPECT_FALSE(verify_history(reader).first_break());

        reader.change_job = change;

        const Verification result = verify_history(reader);
        ASSERT_TRUE(result.first_break()) << what;
        EXPECT_NE(result.first_break()->what.find(what), std::string::npos)
            << result.first_break()->what;
    }
}

}  // namespace verify_history_test
}  // namespace sluice
