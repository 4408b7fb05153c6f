#include "domain/jobs/history.hpp"

#include <gtest/gtest.h>

#include <set>

namespace sluice {
namespace history_test {

using namespace std::chrono_literals;

// A named change of one field.
template <class Subject>
struct Change {
    const char* field;
    std::function<void(Subject&)> make;
};

JobSpec full_spec() {
    JobSpec spec;
    spec.id = JobId{1'000};
    spec.tenant = "tenant";
    spec.project = "project";
    spec.queue = "queue";
    spec.type = "type";
    spec.priority = 5;
    spec.created_at = from_micros(1'000'000);
    spec.run_after = from_micros(2'000'000);
    spec.timeout = 30s;
    spec.max_attempts = 3;
    spec.backoff = {.kind = Backoff::Kind::list, .delays = {1s, 2s}, .base = 3s, .cap = 4s};
    spec.entity_type = "entity_type";
    spec.entity_id = "entity_id";
    spec.site_id = "site";
    spec.node_id = "node";
    spec.exclusive_keys = {"a", "b"};
    spec.labels = {"gpu", "linux"};
    spec.depends_on = {JobId{1}, JobId{2}};
    spec.source = "source";
    spec.correlation_id = "correlation";
    spec.replay_of = JobId{3};
    spec.payload = R"({"n":1})";
    spec.payload_digest = sha256(spec.payload);
    return spec;
}

const std::vector<Change<JobSpec>> spec_changes{
    {"id", [](JobSpec& s) { ++s.id.value; }},
    {"tenant", [](JobSpec& s) { s.tenant += "x"; }},
    {"project", [](JobSpec& s) { s.project += "x"; }},
    {"queue", [](JobSpec& s) { s.queue += "x"; }},
    {"type", [](JobSpec& s) { s.type += "x"; }},
    {"priority", [](JobSpec& s) { ++s.priority; }},
    {"sign of priority", [](JobSpec& s) { s.priority = -s.priority; }},
    {"created_at", [](JobSpec& s) { s.created_at += 1us; }},
    {"run_after", [](JobSpec& s) { s.run_after += 1us; }},
    {"timeout", [](JobSpec& s) { s.timeout += 1us; }},
    {"max_attempts", [](JobSpec& s) { ++s.max_attempts; }},
    {"backoff kind", [](JobSpec& s) { s.backoff.kind = Backoff::Kind::exponential; }},
    {"backoff delay", [](JobSpec& s) { s.backoff.delays[1] += 1us; }},
    {"backoff delays", [](JobSpec& s) { s.backoff.delays.pop_back(); }},
    {"backoff base", [](JobSpec& s) { s.backoff.base += 1us; }},
    {"backoff cap", [](JobSpec& s) { s.backoff.cap += 1us; }},
    {"retry_on_timeout", [](JobSpec& s) { s.retry_on_timeout = true; }},
    {"entity_type", [](JobSpec& s) { s.entity_type += "x"; }},
    {"entity_id", [](JobSpec& s) { s.entity_id += "x"; }},
    {"site_id", [](JobSpec& s) { s.site_id += "x"; }},
    {"node_id", [](JobSpec& s) { s.node_id += "x"; }},
    {"exclusive key", [](JobSpec& s) { s.exclusive_keys[0] = "c"; }},
    {"exclusive keys", [](JobSpec& s) { s.exclusive_keys.pop_back(); }},
    {"exclusive keys joined", [](JobSpec& s) { s.exclusive_keys = {"a1:b"}; }},
    {"label", [](JobSpec& s) { s.labels[0] = "cpu"; }},
    {"labels", [](JobSpec& s) { s.labels.clear(); }},
    {"key turned label", [](JobSpec& s) { s.exclusive_keys = {"a"}, s.labels.push_back("b"); }},
    {"dependency", [](JobSpec& s) { s.depends_on[1] = JobId{4}; }},
    {"dependencies", [](JobSpec& s) { s.depends_on.pop_back(); }},
    {"on_dependency_failure",
     [](JobSpec& s) { s.on_dependency_failure = OnDependencyFailure::run; }},
    {"source", [](JobSpec& s) { s.source += "x"; }},
    {"correlation_id", [](JobSpec& s) { s.correlation_id += "x"; }},
    {"idempotency_key", [](JobSpec& s) { s.idempotency_key += "x"; }},
    {"replay_of", [](JobSpec& s) { s.replay_of = JobId{4}; }},
    {"replay_of given", [](JobSpec& s) { s.replay_of.reset(); }},
    {"payload_digest", [](JobSpec& s) { s.payload_digest[31] ^= 1; }},
    {"text moved between fields",
     [](JobSpec& s) { s.entity_type = "entity_typee", s.entity_id = "ntity_id"; }},
};

TEST(Genesis, CoversEveryFieldOfTheSpec) {
    std::set<Digest> seen{genesis(full_spec())};

    for (const auto& change : spec_changes) {
        JobSpec changed = full_spec();
        change.make(changed);
        EXPECT_NE(changed, full_spec()) << change.field;
        EXPECT_TRUE(seen.insert(genesis(changed)).second) << change.field;
    }
}

TEST(Genesis, CoversThePayloadThroughItsDigest) {
    JobSpec changed = full_spec();
    changed.payload = R"({"n":2})";
    changed.payload_digest = sha256(changed.payload);

    EXPECT_NE(genesis(changed), genesis(full_spec()));
}

TEST(Genesis, IsTheSameForTheSameSpec) {
    EXPECT_EQ(genesis(full_spec()), genesis(full_spec()));
}

Event full_event() {
    return {.job = JobId{1000},
            .seq = 7,
            .step = Step::retried,
            .from = JobState::running,
            .to = JobState::queued,
            .attempt = 2,
            .lease = LeaseToken{99},
            .actor = "worker:w",
            .at = from_micros(5),
            .log_seq = 3,
            .detail = R"({"error_code":"E"})",
            .hash = {}};
}

const std::vector<Change<Event>> event_changes{
    {"job", [](Event& e) { ++e.job.value; }},
    {"seq", [](Event& e) { ++e.seq; }},
    {"step", [](Event& e) { e.step = Step::handed_back; }},
    {"from", [](Event& e) { e.from = JobState::queued; }},
    {"from given", [](Event& e) { e.from.reset(); }},
    {"to", [](Event& e) { e.to = JobState::failed; }},
    {"to given", [](Event& e) { e.to.reset(); }},
    {"attempt", [](Event& e) { ++e.attempt; }},
    {"lease", [](Event& e) { ++e.lease->value; }},
    {"lease given", [](Event& e) { e.lease.reset(); }},
    {"actor", [](Event& e) { e.actor += "x"; }},
    {"at", [](Event& e) { e.at += 1us; }},
    {"log_seq", [](Event& e) { ++e.log_seq; }},
    {"detail", [](Event& e) { e.detail += " "; }},
    {"detail given", [](Event& e) { e.detail.clear(); }},
    {"text moved between fields", [](Event& e) { e.actor = "worker:w{", e.detail.erase(0, 1); }},
};

TEST(ChainHash, CoversEveryFieldOfTheEvent) {
    const Digest previous = sha256("previous");
    std::set<Digest> seen{chain_hash(previous, full_event())};

    for (const auto& change : event_changes) {
        Event changed = full_event();
        change.make(changed);
        EXPECT_TRUE(seen.insert(chain_hash(previous, changed)).second) << change.field;
    }
}

TEST(ChainHash, CoversTheResultWhereTheJobEndsAndOnlyThere) {
    const Digest previous = sha256("previous");
    Event last = full_event();
    last.to = JobState::succeeded;
    Event other = full_event();
    other.to = JobState::queued;

    EXPECT_NE(chain_hash(previous, last, EventCover{.result = "1"}),
              chain_hash(previous, last, EventCover{.result = "2"}));
    EXPECT_EQ(chain_hash(previous, other, EventCover{.result = "1"}),
              chain_hash(previous, other, EventCover{.result = "2"}));
}

TEST(Genesis, OfAFormThatIsNotKnownIsThatOfNoOther) {
    JobSpec spec = full_spec();
    for (const int form : {0, newest_history_form + 1}) {
        spec.history_form = form;
        EXPECT_EQ(genesis(spec), Digest{}) << form;
    }
}

TEST(Genesis, DiffersFromFormToForm) {
    JobSpec old = full_spec();
    old.history_form = 1;

    EXPECT_NE(genesis(old), genesis(full_spec()));
}

TEST(ChainHash, CoversTheLinesBeforeItWhereThereAreAny) {
    const Digest previous = sha256("previous");
    const Digest one = sha256("one");
    const Digest other = sha256("other");
    const auto hash = [&](const Event& event, const Digest* log) {
        return chain_hash(previous, event, EventCover{.log = log});
    };
    Event first = full_event();
    first.log_seq = 0;

    EXPECT_NE(hash(full_event(), &one), hash(full_event(), &other));
    EXPECT_NE(hash(full_event(), &one), hash(full_event(), nullptr));
    EXPECT_EQ(hash(first, &one), hash(first, nullptr));
}

TEST(EventCover, HasTheLinesOfJobsWhoseHistoryBeganInTheSecondForm) {
    const std::optional<Digest> log = sha256("lines");
    JobSpec spec = full_spec();

    ASSERT_NE(cover_of(spec, "", log).log, nullptr);
    EXPECT_EQ(*cover_of(spec, "", log).log, *log);
    EXPECT_EQ(cover_of(spec, "", std::nullopt).log, nullptr);
    spec.history_form = 1;
    EXPECT_EQ(cover_of(spec, "", log).log, nullptr);
}

TEST(ChainHash, CoversTheHashBeforeIt) {
    EXPECT_NE(chain_hash(sha256("a"), full_event()), chain_hash(sha256("b"), full_event()));
}

LogLine full_line() {
    return {.job = JobId{1000},
            .seq = 4,
            .attempt = 2,
            .level = LogLevel::warn,
            .message = "half done",
            .data = R"({"done":50})",
            .at = from_micros(7),
            .event_seq = 3};
}

const std::vector<Change<LogLine>> line_changes{
    {"seq", [](LogLine& l) { ++l.seq; }},
    {"attempt", [](LogLine& l) { ++l.attempt; }},
    {"level", [](LogLine& l) { l.level = LogLevel::error; }},
    {"message", [](LogLine& l) { l.message += "x"; }},
    {"message given", [](LogLine& l) { l.message.clear(); }},
    {"data", [](LogLine& l) { l.data = R"({"done":51})"; }},
    {"data given", [](LogLine& l) { l.data.clear(); }},
    {"at", [](LogLine& l) { l.at += 1us; }},
    {"event_seq", [](LogLine& l) { ++l.event_seq; }},
    {"text moved between fields", [](LogLine& l) { l.message += "{", l.data.erase(0, 1); }},
};

TEST(LogHash, CoversEveryFieldOfTheLine) {
    const Digest previous = sha256("previous");
    std::set<Digest> seen{log_hash(previous, full_line())};

    for (const auto& change : line_changes) {
        LogLine changed = full_line();
        change.make(changed);
        EXPECT_TRUE(seen.insert(log_hash(previous, changed)).second) << change.field;
    }
}

TEST(LogHash, CoversTheLinesBeforeIt) {
    EXPECT_NE(log_hash(sha256("a"), full_line()), log_hash(sha256("b"), full_line()));
}

TEST(NextLine, IsTakenIntoTheDigestThatTheNextEventCovers) {
    Job job = accepted(full_spec());
    const auto parts = [](Step step, std::optional<JobState> from) {
        return EventParts{
            .step = step, .from = from, .lease = {}, .actor = "a", .at = {}, .detail = ""};
    };
    const auto end = [&](Job ended) {
        ended.now.state = JobState::succeeded;
        return record(ended, parts(Step::succeeded, JobState::running)).hash;
    };
    record(job, parts(Step::submitted, std::nullopt));
    Job other = job;

    const LogLine first = next_line(job, {.message = "one"});
    const LogLine second = next_line(job, {.message = "two"});
    next_line(other, {.message = "one"});
    next_line(other, {.message = "three"});

    EXPECT_EQ(second.seq, 2);
    EXPECT_EQ(second.event_seq, 1);
    EXPECT_EQ(job.now.log_hash, log_hash(log_hash(Digest{}, first), second));
    EXPECT_NE(end(job), end(other)) << "two histories that differ in the text of a line only";
}

// A job's life in five events.
std::pair<Job, std::vector<Event>> recorded_life() {
    Job job = accepted(full_spec());
    std::vector<Event> events;
    const auto step = [&](Step what, std::optional<JobState> from, JobState to, int at) {
        job.now.state = to;
        job.now.log_seq = at;
        events.push_back(record(job, {.step = what,
                                      .from = from,
                                      .lease = LeaseToken{at},
                                      .actor = "a" + std::to_string(at),
                                      .at = from_micros(at),
                                      .detail = ""}));
    };
    step(Step::submitted, std::nullopt, JobState::queued, 1);
    step(Step::claimed, JobState::queued, JobState::running, 2);
    step(Step::retried, JobState::running, JobState::queued, 3);
    step(Step::claimed, JobState::queued, JobState::running, 4);
    step(Step::canceled, JobState::running, JobState::canceled, 5);
    step(Step::lease_closed, std::nullopt, JobState::canceled, 6);
    return {job, events};
}

bool is_whole(const Job& job, const std::vector<Event>& events) {
    Digest previous = genesis(job.spec);
    for (const Event& event : events) {
        if (chain_hash(previous, event) != event.hash) return false;
        previous = event.hash;
    }
    return previous == job.now.head.hash;
}

TEST(Record, MakesAChainFromTheSpecToTheHead) {
    const auto [job, events] = recorded_life();

    EXPECT_TRUE(is_whole(job, events));
    EXPECT_EQ(job.now.head, (ChainHead{6, events.back().hash}));
    for (std::size_t i = 0; i < events.size(); ++i) EXPECT_EQ(events[i].seq, std::int64_t(i) + 1);
}

TEST(Record, NamesTheStateOnlyWhereItChanges) {
    const auto [job, events] = recorded_life();

    EXPECT_EQ(events.front().from, std::nullopt);
    EXPECT_EQ(events.front().to, JobState::queued);
    EXPECT_EQ(events[1].from, JobState::queued);
    EXPECT_EQ(events[1].to, JobState::running);
    EXPECT_EQ(events.back().from, std::nullopt);
    EXPECT_EQ(events.back().to, std::nullopt);
}

TEST(Chain, BreaksWhenAnyFieldOfAnyEventIsChanged) {
    const auto [job, events] = recorded_life();

    for (std::size_t i = 0; i < events.size(); ++i) {
        for (const auto& change : event_changes) {
            auto changed = events;
            change.make(changed[i]);
            if (changed[i] == events[i]) continue;
            EXPECT_FALSE(is_whole(job, changed)) << i << ' ' << change.field;
        }
    }
}

TEST(Chain, BreaksWhenAnEventIsRemoved) {
    const auto [job, events] = recorded_life();

    for (std::size_t i = 0; i < events.size(); ++i) {
        auto changed = events;
        changed.erase(changed.begin() + static_cast<std::ptrdiff_t>(i));
        EXPECT_FALSE(is_whole(job, changed)) << i;
    }
}

TEST(Chain, BreaksWhenEventsAreSwappedOrRepeated) {
    const auto [job, events] = recorded_life();

    for (std::size_t i = 1; i < events.size(); ++i) {
        auto swapped = events;
        std::swap(swapped[i - 1], swapped[i]);
        EXPECT_FALSE(is_whole(job, swapped)) << i;

        auto repeated = events;
        repeated.insert(repeated.begin() + static_cast<std::ptrdiff_t>(i), events[i]);
        EXPECT_FALSE(is_whole(job, repeated)) << i;
    }
}

TEST(Chain, BreaksWhenTheSpecIsChanged) {
    for (const auto& change : spec_changes) {
        auto [job, events] = recorded_life();
        JobSpec changed = job.spec;
        change.make(changed);
        job.spec = changed;
        EXPECT_FALSE(is_whole(job, events)) << change.field;
    }
}

TEST(Position, CountsEventsAndLinesOnOneSequence) {
    Event event;
    event.seq = 3;
    event.log_seq = 4;
    LogLine line;
    line.seq = 5;
    line.event_seq = 3;

    EXPECT_EQ(event.position(), 7);
    EXPECT_EQ(line.position(), 8);
}

TEST(LogLevelText, RoundTripsAndRefusesOtherWords) {
    for (const LogLevel level : {LogLevel::info, LogLevel::warn, LogLevel::error}) {
        EXPECT_EQ(parse_log_level(to_text(level)), level);
    }
    for (const char* text : {"", "INFO", "warning", "debug"}) {
        EXPECT_EQ(parse_log_level(text), std::nullopt) << text;
    }
}

}  // namespace history_test
}  // namespace sluice
