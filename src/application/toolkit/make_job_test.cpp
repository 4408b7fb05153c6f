#include "application/toolkit/make_job.hpp"

#include <gtest/gtest.h>

#include <climits>

#include "support/test_engine.hpp"

namespace sluice {
namespace make_job_test {

using namespace std::chrono_literals;

NewJob wanted() {
    NewJob job;
    job.type = "work";
    return job;
}

Result<JobSpec> make(NewJob job, const JobTypes& types = {}) {
    return make_job(std::move(job), types, at(0));
}

struct Refused {
    const char* pointer;
    ErrorCode code;
    std::function<void(NewJob&)> ask;
};

void expect_refusals(const std::vector<Refused>& refusals) {
    for (const Refused& refused : refusals) {
        NewJob job = wanted();
        refused.ask(job);
        const auto answer = make(std::move(job));
        ASSERT_FALSE(answer) << refused.pointer;
        EXPECT_EQ(answer.error().pointer, refused.pointer);
        EXPECT_EQ(answer.error().code, refused.code) << refused.pointer;
        EXPECT_FALSE(answer.error().message.empty());
    }
}

TEST(MakeJob, TakesWhatIsNotSaidFromTheType) {
    JobTypes types;
    types.put({.name = "work",
               .queue = "slow",
               .priority = 7,
               .max_attempts = 9,
               .timeout = 2h,
               .backoff = Backoff::list({1s}),
               .retry_on_timeout = true});

    const auto spec = make(wanted(), types);

    ASSERT_TRUE(spec);
    EXPECT_EQ(spec->tenant, "default");
    EXPECT_EQ(spec->queue, "slow");
    EXPECT_EQ(spec->priority, 7);
    EXPECT_EQ(spec->max_attempts, 9);
    EXPECT_EQ(spec->timeout, 2h);
    EXPECT_EQ(spec->backoff, Backoff::list({1s}));
    EXPECT_TRUE(spec->retry_on_timeout);
    EXPECT_EQ(spec->payload, "null");
    EXPECT_EQ(spec->payload_digest, sha256("null"));
    EXPECT_LE(spec->run_after, at(0));
}

TEST(MakeJob, PrefersWhatIsSaid) {
    NewJob job = wanted();
    job.queue = "fast";
    job.priority = 0;
    job.max_attempts = 1;
    job.timeout = 0s;
    job.backoff = Backoff::none();
    JobTypes types;
    types.put({.name = "work", .queue = "slow", .priority = 7});

    const auto spec = make(job, types);

    EXPECT_EQ(spec->queue, "fast");
    EXPECT_EQ(spec->priority, 0);
    EXPECT_EQ(spec->max_attempts, 1);
    EXPECT_EQ(spec->timeout, 0s);
    EXPECT_EQ(spec->backoff, Backoff::none());
}

TEST(MakeJob, KeepsEveryOtherField) {
    NewJob job = wanted();
    job.tenant = "t";
    job.project = "p";
    job.payload = " { } ";
    job.entity_type = "et";
    job.entity_id = "ei";
    job.site_id = "s";
    job.node_id = "n";
    job.on_dependency_failure = OnDependencyFailure::run;
    job.source = "so";
    job.correlation_id = "c";

    const auto spec = make(job);

    ASSERT_TRUE(spec);
    EXPECT_EQ(spec->tenant, "t");
    EXPECT_EQ(spec->project, "p");
    EXPECT_EQ(spec->payload, " { } ");
    EXPECT_EQ(spec->payload_digest, sha256(" { } "));
    EXPECT_EQ(spec->entity_type, "et");
    EXPECT_EQ(spec->entity_id, "ei");
    EXPECT_EQ(spec->site_id, "s");
    EXPECT_EQ(spec->node_id, "n");
    EXPECT_EQ(spec->on_dependency_failure, OnDependencyFailure::run);
    EXPECT_EQ(spec->source, "so");
    EXPECT_EQ(spec->correlation_id, "c");
    EXPECT_EQ(spec->replay_of, std::nullopt);
}

TEST(MakeJob, SortsListsAndDropsRepeats) {
    NewJob job = wanted();
    job.exclusive_keys = {"b", "a", "b"};
    job.labels = {"z", "z", "y"};
    job.depends_on = {JobId{3}, JobId{1}, JobId{3}};

    const auto spec = make(job);

    EXPECT_EQ(spec->exclusive_keys, (std::vector<std::string>{"a", "b"}));
    EXPECT_EQ(spec->labels, (std::vector<std::string>{"y", "z"}));
    EXPECT_EQ(spec->depends_on, (std::vector{JobId{1}, JobId{3}}));
}

TEST(MakeJob, TurnsADelayIntoATime) {
    NewJob job = wanted();
    job.delay = 90s;

    EXPECT_EQ(make(job)->run_after, at(90));
}

TEST(MakeJob, RefusesWhatIsMissing) {
    expect_refusals({
        {"/type", ErrorCode::invalid, [](NewJob& job) { job.type.clear(); }},
        {"/tenant", ErrorCode::invalid, [](NewJob& job) { job.tenant.clear(); }},
        {"/tenant", ErrorCode::invalid, [](NewJob& job) { job.tenant = "acme*"; }},
        {"/queue", ErrorCode::invalid, [](NewJob& job) { job.queue = ""; }},
        {"/exclusive_keys/1", ErrorCode::invalid,
         [](NewJob& job) {
             job.exclusive_keys = {"a", ""};
         }},
        {"/labels/0", ErrorCode::invalid, [](NewJob& job) { job.labels = {""}; }},
    });
}

struct Name {
    const char* field;
    std::function<void(NewJob&, std::string)> set;
};

const std::vector<Name> names{
    {"type", [](NewJob& job, std::string name) { job.type = name; }},
    {"tenant", [](NewJob& job, std::string name) { job.tenant = name; }},
    {"project", [](NewJob& job, std::string name) { job.project = name; }},
    {"queue", [](NewJob& job, std::string name) { job.queue = name; }},
    {"entity_type", [](NewJob& job, std::string name) { job.entity_type = name; }},
    {"entity_id", [](NewJob& job, std::string name) { job.entity_id = name; }},
    {"site_id", [](NewJob& job, std::string name) { job.site_id = name; }},
    {"node_id", [](NewJob& job, std::string name) { job.node_id = name; }},
    {"source", [](NewJob& job, std::string name) { job.source = name; }},
    {"correlation_id", [](NewJob& job, std::string name) { job.correlation_id = name; }},
    {"exclusive_keys/0", [](NewJob& job, std::string name) { job.exclusive_keys = {name}; }},
    {"labels/0", [](NewJob& job, std::string name) { job.labels = {name}; }},
};

TEST(MakeJob, TakesNamesUpToTheirLimit) {
    for (const Name& name : names) {
        NewJob at_limit = wanted();
        name.set(at_limit, std::string(200, 'x'));
        EXPECT_TRUE(make(at_limit)) << name.field;

        NewJob over = wanted();
        name.set(over, std::string(201, 'x'));
        const auto answer = make(over);
        ASSERT_FALSE(answer) << name.field;
        EXPECT_EQ(answer.error().code, ErrorCode::too_large) << name.field;
        EXPECT_EQ(answer.error().pointer, "/" + std::string(name.field));
    }
}

TEST(MakeJob, RefusesControlCharactersInNames) {
    for (const Name& name : names) {
        for (const char bad : {'\0', '\n', '\x1f', '\x7f'}) {
            NewJob job = wanted();
            name.set(job, std::string("a") + bad);
            EXPECT_EQ(refusal(make(job)), ErrorCode::invalid) << name.field << int(bad);
        }
    }
}

TEST(MakeJob, TakesNamesThatAreNotAscii) {
    for (const Name& name : names) {
        NewJob job = wanted();
        name.set(job, "žluťoučký 水門 🚰");
        EXPECT_TRUE(make(job)) << name.field;
    }
}

TEST(MakeJob, TakesEverythingAtItsLimit) {
    for (const auto& ask : std::vector<std::function<void(NewJob&)>>{
             [](NewJob& job) { job.priority = 1'000'000; },
             [](NewJob& job) { job.priority = -1'000'000; },
             [](NewJob& job) { job.max_attempts = 1; },
             [](NewJob& job) { job.max_attempts = 1000; },
             [](NewJob& job) { job.timeout = 0s; },
             [](NewJob& job) { job.timeout = 24h * 30; },
             [](NewJob& job) { job.delay = 0s; },
             [](NewJob& job) { job.delay = limits::delay; },
             [](NewJob& job) { job.run_after = at(0) + limits::delay; },
             [](NewJob& job) { job.run_after = Timestamp::min(); },
             [](NewJob& job) { job.payload = std::string(256 * 1024, ' '); },
             [](NewJob& job) { job.depends_on.assign(100, JobId{1}); },
             [](NewJob& job) { job.exclusive_keys.assign(32, "x"); },
             [](NewJob& job) { job.labels.assign(32, "x"); },
             [](NewJob& job) {
                 job.backoff = Backoff::list(std::vector<Duration>(32, limits::delay));
             },
             [](NewJob& job) { job.backoff = Backoff::exponential(0s, limits::delay); },
         }) {
        NewJob job = wanted();
        ask(job);
        const auto answer = make(job);
        EXPECT_TRUE(answer) << (answer ? "" : answer.error().pointer);
    }
}

TEST(MakeJob, RefusesEverythingOneOverItsLimit) {
    expect_refusals({
        {"/priority", ErrorCode::invalid, [](NewJob& job) { job.priority = 1'000'001; }},
        {"/priority", ErrorCode::invalid, [](NewJob& job) { job.priority = -1'000'001; }},
        {"/priority", ErrorCode::invalid, [](NewJob& job) { job.priority = INT_MAX; }},
        {"/max_attempts", ErrorCode::invalid, [](NewJob& job) { job.max_attempts = 0; }},
        {"/max_attempts", ErrorCode::invalid, [](NewJob& job) { job.max_attempts = 1001; }},
        {"/timeout_ms", ErrorCode::invalid, [](NewJob& job) { job.timeout = -1us; }},
        {"/timeout_ms", ErrorCode::invalid, [](NewJob& job) { job.timeout = 24h * 30 + 1us; }},
        {"/delay_ms", ErrorCode::invalid, [](NewJob& job) { job.delay = -1us; }},
        {"/delay_ms", ErrorCode::invalid, [](NewJob& job) { job.delay = limits::delay + 1us; }},
        {"/run_after", ErrorCode::invalid,
         [](NewJob& job) { job.run_after = at(0) + limits::delay + 1us; }},
        {"/payload", ErrorCode::too_large,
         [](NewJob& job) { job.payload = std::string(256 * 1024 + 1, ' '); }},
        {"/depends_on", ErrorCode::too_large,
         [](NewJob& job) { job.depends_on.assign(101, JobId{1}); }},
        {"/exclusive_keys", ErrorCode::too_large,
         [](NewJob& job) { job.exclusive_keys.assign(33, "x"); }},
        {"/labels", ErrorCode::too_large, [](NewJob& job) { job.labels.assign(33, "x"); }},
        {"/backoff", ErrorCode::too_large,
         [](NewJob& job) { job.backoff = Backoff::list(std::vector<Duration>(33)); }},
        {"/backoff", ErrorCode::invalid, [](NewJob& job) { job.backoff = Backoff::list({-1us}); }},
        {"/backoff", ErrorCode::invalid,
         [](NewJob& job) { job.backoff = Backoff::exponential(-1us, 1s); }},
        {"/backoff", ErrorCode::invalid,
         [](NewJob& job) { job.backoff = Backoff::exponential(1s, limits::delay + 1us); }},
    });
}

TEST(MakeJob, RefusesABackoffThatContradictsItself) {
    expect_refusals({
        {"/backoff", ErrorCode::invalid, [](NewJob& job) { job.backoff = Backoff::list({}); }},
        {"/backoff/cap_ms", ErrorCode::invalid,
         [](NewJob& job) { job.backoff = Backoff::exponential(2s, 1s); }},
    });
}

TEST(MakeJob, RefusesASiteOrNodeThatNoPathCanName) {
    for (const char* id : {"a/c", "/", ".", ".."}) {
        expect_refusals({
            {"/site_id", ErrorCode::invalid, [id](NewJob& job) { job.site_id = id; }},
            {"/node_id", ErrorCode::invalid, [id](NewJob& job) { job.node_id = id; }},
        });
    }
    NewJob job = wanted();
    job.entity_type = "branch";
    job.entity_id = "feature/x";
    job.site_id = "...";
    EXPECT_TRUE(make(job)) << "an entity may be a label only";
}

TEST(MakeJob, RefusesTheLowestPriorityThatANumberCanSay) {
    NewJob job = wanted();
    job.priority = INT_MIN;

    const auto answer = make(job);

    EXPECT_EQ(refusal(answer), ErrorCode::invalid);
}

TEST(MakeJob, RefusesADelayTogetherWithATime) {
    expect_refusals({{"/delay_ms", ErrorCode::invalid, [](NewJob& job) {
                          job.delay = 1s;
                          job.run_after = at(1);
                      }}});
}

TEST(MakeJob, RefusesUnknownTypesWhenTheyAreStrict) {
    JobTypes types = Catalog::built_in().types;
    types.refuse_unknown(true);

    const auto unknown = make(wanted(), types);
    NewJob known = wanted();
    known.type = "msuite_submit";

    EXPECT_EQ(refusal(unknown), ErrorCode::invalid);
    EXPECT_EQ(unknown.error().pointer, "/type");
    EXPECT_TRUE(make(known, types));
}

TEST(MakeJob, WantsANodeAndASiteWhereTheTypeDoes) {
    const auto refused_at = [](const char* type, const char* node, const char* site) {
        NewJob job = wanted();
        job.type = type;
        job.node_id = node;
        job.site_id = site;
        const auto made = make(job, Catalog::built_in().types);
        return made ? std::string() : made.error().pointer;
    };

    EXPECT_EQ(refused_at("env_deploy", "", "s"), "/node_id");
    EXPECT_EQ(refused_at("env_deploy", "n", ""), "/site_id");
    EXPECT_EQ(refused_at("env_deploy", "n", "s"), "");
    EXPECT_EQ(refused_at("node_provision", "", ""), "/node_id");
    EXPECT_EQ(refused_at("node_provision", "n", "s"), "/site_id");
    EXPECT_EQ(refused_at("node_provision", "n", ""), "");
    EXPECT_EQ(refused_at("msuite_submit", "", ""), "");
}

}  // namespace make_job_test
}  // namespace sluice
