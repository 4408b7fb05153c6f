#include <gtest/gtest.h>

#include "e2e/cli.hpp"

namespace sluice::e2e {
namespace cli_job_test {

class CliJob : public CliTest {
  protected:
    Ended list_jobs(const Words& more = {}) const {
        Words words{"job", "list", "--queue", api.queue()};
        words.insert(words.end(), more.begin(), more.end());
        return cli(words);
    }
};

TEST_F(CliJob, ListsATableOnATerminal) {
    const std::string failed = failed_job();
    const std::string queued = api.submit_id({{"type", "deploy"}});
    const Ended ended = on_terminal({"job", "list", "--queue", api.queue()});
    const auto lines = lines_of(ended.output);

    EXPECT_EQ(ended.code, 0);
    ASSERT_EQ(lines.size(), 3u) << ended.output;
    EXPECT_TRUE(lines[0].starts_with("STATE")) << lines[0];
    EXPECT_TRUE(has(lines[1], "… queued")) << lines[1];
    EXPECT_TRUE(has(lines[1], queued.substr(0, 12)) && has(lines[1], "deploy")) << lines[1];
    EXPECT_TRUE(has(lines[2], "✖ failed")) << lines[2];
    EXPECT_TRUE(has(lines[2], "E_DISK the disk is full")) << lines[2];
    EXPECT_TRUE(has(lines[2], "1/1")) << lines[2];
}

TEST_F(CliJob, KeepsATableWithinTheTerminal) {
    api.submit({{"type", std::string(100, 'x')}});
    api.submit({{"type", "größe→変更"}});
    Terminal terminal(with_server({"job", "list", "--queue", api.queue()}), {.columns = 60});

    EXPECT_EQ(terminal.wait(), 0);
    for (const std::string& line : lines_of(terminal.screen())) {
        std::size_t characters = 0;
        for (const char c : line) characters += (static_cast<unsigned char>(c) & 0xC0) != 0x80;
        EXPECT_LE(characters, 60u) << line;
    }
    EXPECT_TRUE(has(terminal.screen(), "xx…")) << terminal.screen();
}

TEST_F(CliJob, ListsLinesWithTabsOnAPipe) {
    const std::string id = failed_job();
    const auto lines = lines_of(list_jobs().output);

    ASSERT_EQ(lines.size(), 2u);
    EXPECT_EQ(lines[0],
              "id\tstate\ttype\tqueue\tattempt\tmax_attempts\tcreated_at\tstarted_at\tcompleted_at"
              "\tlocked_by\terror_code\terror_message");
    EXPECT_TRUE(lines[1].starts_with(id + "\tfailed\ttask\t" + api.queue() + "\t1\t1\t20"));
    EXPECT_TRUE(lines[1].ends_with("\tE_DISK\tthe disk is full")) << lines[1];
}

TEST_F(CliJob, ListsInEveryFormat) {
    const std::string older = api.submit_id({{"payload", parse("{\"a\":\"\\n\"}")}});
    const std::string newer = api.submit_id();

    EXPECT_EQ(list_jobs({"-o", "name"}).output, newer + "\n" + older + "\n");
    const Json document = parse(list_jobs({"--json"}).output);
    EXPECT_EQ(list(document, "jobs").size(), 2u);
    EXPECT_TRUE(is_null(document, "next_cursor"));
    EXPECT_EQ(document, api.get("/api/v1/jobs?queue=" + api.queue()));
    const auto lines = lines_of(list_jobs({"-o", "jsonl"}).output);
    ASSERT_EQ(lines.size(), 2u);
    EXPECT_EQ(parse(lines[1]), api.job(older));
    EXPECT_EQ(list_jobs({"-o", "jsonl", "--fields", "state,id"}).output,
              "{\"state\":\"queued\",\"id\":\"" + newer + "\"}\n{\"state\":\"queued\",\"id\":\"" +
                  older + "\"}\n");
    EXPECT_EQ(list_jobs({"--json", "--fields", "id", "--limit", "2"}).output,
              "{\"jobs\":[{\"id\":\"" + newer + "\"},{\"id\":\"" + older +
                  "\"}],\"next_cursor\":null}\n");
    EXPECT_EQ(list_jobs({"--fields", "id,attempt"}).output,
              "id\tattempt\n" + newer + "\t0\n" + older + "\t0\n");
    EXPECT_TRUE(list_jobs({"-o", "table"}).output.starts_with("STATE"));
    EXPECT_TRUE(has(list_jobs({"-o", "wide"}).output, newer));
}

TEST_F(CliJob, ListsByEveryFilter) {
    const std::string worker = fresh_name("worker");
    const std::string id = api.submit_id({{"type", "special"},
                                          {"project", "p1"},
                                          {"entity_type", "release"},
                                          {"entity_id", "r1"},
                                          {"site_id", api.queue() + "s"},
                                          {"node_id", api.queue() + "n"},
                                          {"labels", List{"linux"}},
                                          {"correlation_id", "c1"}});
    api.claim_one({{"worker_id", worker}, {"labels", List{"linux"}}});
    api.submit();
    const std::vector<Words> filters{
        {"--state", "running,failed"}, {"--state", "running", "--state", "failed"},
        {"--type", "special"},         {"--project", "p1"},
        {"--entity", "release"},       {"--entity", "release/r1"},
        {"--site", api.queue() + "s"}, {"--node", api.queue() + "n"},
        {"--label", "linux"},          {"--worker", worker},
        {"--correlation-id", "c1"},
    };
    for (Words words : filters) {
        words.insert(words.end(), {"-o", "name"});
        EXPECT_EQ(list_jobs(words).output, id + "\n") << words[0];
    }
    EXPECT_EQ(lines_of(list_jobs({"--since", "1h", "-o", "name"}).output).size(), 2u);
    EXPECT_EQ(list_jobs({"--before", "1h", "-o", "name"}).output, "");
    EXPECT_EQ(list_jobs({"--since", "2100-01-01T00:00:00Z", "-o", "name"}).output, "");
}

TEST_F(CliJob, ListsPageByPage) {
    api.submit_batch(std::vector<Fields>(230));

    EXPECT_EQ(lines_of(list_jobs({"-o", "name"}).output).size(), 50u);
    EXPECT_EQ(lines_of(list_jobs({"-o", "name", "--limit", "210"}).output).size(), 210u);
    EXPECT_EQ(list(parse(list_jobs({"--json", "--all"}).output), "jobs").size(), 230u);
    const Json page = parse(list_jobs({"--json", "--limit", "3"}).output);
    EXPECT_EQ(list(page, "jobs").size(), 3u);
    EXPECT_FALSE(is_null(page, "next_cursor"));
    const Ended ended = on_terminal({"job", "list", "--queue", api.queue(), "--limit", "3"});
    EXPECT_TRUE(has(ended.output, "more with")) << ended.output;
}

TEST_F(CliJob, SaysThatAListIsEmpty) {
    EXPECT_TRUE(has(on_terminal({"job", "list", "--queue", api.queue()}).output, "no jobs"));
    EXPECT_EQ(lines_of(list_jobs().output).size(), 1u);
    EXPECT_EQ(parse(list_jobs({"--json"}).output), parse(R"({"jobs":[],"next_cursor":null})"));
}

TEST_F(CliJob, RefusesWordsThatItDoesNotKnow) {
    const Ended state = list_jobs({"--state", "faild"});
    EXPECT_EQ(state.code, 2);
    EXPECT_TRUE(has(state.errors, "did you mean \"failed\"?")) << state.errors;
    const std::vector<std::pair<Words, std::string>> cases{
        {{"--since", "yesterday"}, "--since \"yesterday\" is neither a duration"},
        {{"--since", "1000000d"}, "up to 36500d"},
        {{"--limit", "0"}, "--limit must be at least 1"},
        {{"--all", "--limit", "3"}, "--limit and --all contradict each other"},
        {{"--entity", "/x"}, "--entity must be TYPE or TYPE/ID"},
    };
    for (const auto& [words, message] : cases) {
        const Ended ended = list_jobs(words);
        EXPECT_EQ(ended.code, 2) << message;
        EXPECT_TRUE(has(ended.errors, message)) << ended.errors;
    }
}

TEST_F(CliJob, ShowsOneJob) {
    const std::string id = succeeded_job();

    const Ended sheet = on_terminal({"job", "get", id});
    EXPECT_EQ(sheet.code, 0);
    EXPECT_TRUE(has(sheet.output, "✔ succeeded  task  " + id)) << sheet.output;
    EXPECT_TRUE(has(sheet.output, R"({"n":1})")) << sheet.output;
    EXPECT_EQ(parse(cli({"job", "get", id, "--json"}).output), api.job(id));
    EXPECT_EQ(cli({"job", "get", id, "--fields", "state,result"}).output,
              "state\tsucceeded\nresult\t{\"n\":1}\n");
    EXPECT_TRUE(has(cli({"job", "get", id}).output, "\nattempt\t1\n"));
    EXPECT_EQ(cli({"job", "get", id, "-o", "name"}).output, id + "\n");
}

TEST_F(CliJob, FindsJobsByPartOfTheirIdAndByLast) {
    const List batch = api.submit_batch(std::vector<Fields>(3));
    const std::string id = text(batch.at(0), "id");

    EXPECT_EQ(cli({"job", "get", id, "-o", "name"}).output, id + "\n");
    const Ended many = cli({"job", "get", id.substr(0, 8)});
    EXPECT_EQ(many.code, 2);
    EXPECT_TRUE(has(many.errors, "more than one") && has(many.errors, "task")) << many.errors;
    EXPECT_EQ(cli({"job", "get", "0123"}).code, 5);
    EXPECT_EQ(cli({"job", "get", "000000000000000000000000"}).code, 5);
    const Ended no_id = cli({"job", "get", "nothex"});
    EXPECT_EQ(no_id.code, 2);
    EXPECT_TRUE(has(no_id.errors, "@last is the job that you submitted last")) << no_id.errors;

    const std::string last = run_job();
    api.submit();
    EXPECT_EQ(cli({"job", "get", "@last", "-o", "name"}).output, last + "\n");
    EXPECT_EQ(cli({"job", "get", last.substr(0, 23), "-o", "name"}).output, last + "\n");
}

TEST_F(CliJob, LastIsTheNewestJobWhenNoneIsRemembered) {
    const std::string id = api.submit_id();

    EXPECT_EQ(cli({"job", "get", "@last", "-o", "name"}).output, id + "\n");
}

TEST_F(CliJob, LastIsTheNewestJobWhenTheRememberedOneIsGone) {
    Engine other("memory:");
    const std::string address = "http://127.0.0.1:" + std::to_string(other.port());
    EXPECT_EQ(run_sluice({"job", "get", "@last", "--server", address}).code, 5);
    const Ended ended = run_sluice({"run", "task", "--server", address});
    EXPECT_EQ(run_sluice({"job", "get", "@last", "-o", "name", "--server", address}).output,
              ended.output);
}

TEST_F(CliJob, CancelsJobs) {
    const std::string first = api.submit_id();
    const std::string second = api.submit_id();
    const std::string done = succeeded_job();
    const Ended ended = cli({"job", "cancel", second, "--reason", "not needed"});

    EXPECT_EQ(ended.code, 0);
    EXPECT_EQ(ended.output, "");
    EXPECT_TRUE(has(ended.errors, "canceled " + second)) << ended.errors;
    EXPECT_EQ(api.state(second), "canceled");
    EXPECT_EQ(cli({"job", "cancel", done}).code, 6);
    const std::string third = api.submit_id();
    const Ended mixed = cli({"job", "cancel", done, third, "-o", "name"});
    EXPECT_EQ(mixed.code, 6);
    EXPECT_EQ(mixed.output, third + "\n");
    EXPECT_TRUE(has(mixed.errors, done)) << mixed.errors;
    EXPECT_EQ(api.state(first), "queued") << "nobody asked for that";
    EXPECT_EQ(cli({"job", "cancel", "000000000000000000000000"}).code, 5);
}

TEST_F(CliJob, ReplaysAJobThatHasEnded) {
    const std::string id = failed_job();
    const Ended ended = cli({"job", "replay", id, "--reason", "disk replaced"});

    EXPECT_EQ(ended.code, 0) << ended.errors;
    const std::string replay = ended.output.substr(0, 24);
    EXPECT_EQ(text(api.job(replay), "replay_of"), id);
    EXPECT_EQ(cli({"job", "get", "@last", "-o", "name"}).output, ended.output);
    EXPECT_EQ(cli({"job", "list", "--replay-of", id, "-o", "name"}).output, ended.output);
    EXPECT_EQ(cli({"job", "replay", replay}).code, 6) << "it has not ended";

    Terminal terminal(with_server({"job", "replay", id, "--follow"}));
    ASSERT_TRUE(terminal.shows("queued"));
    api.cancel(replay);
    expect_ok(api.fail(api.claim_one({{"wait_ms", 10'000}})));
    EXPECT_EQ(terminal.wait(), 3);
}

TEST_F(CliJob, ShowsAJobsHistory) {
    const std::string id = failed_job();

    const auto lines = lines_of(cli({"job", "events", id}).output);
    ASSERT_EQ(lines.size(), 4u);
    EXPECT_EQ(lines[0], "seq\tat\ttype\tfrom\tto\tattempt\tactor\tdetail");
    EXPECT_TRUE(lines[1].starts_with("1\t20") && has(lines[1], "\tsubmitted\t")) << lines[1];
    EXPECT_TRUE(has(lines[3], "E_DISK")) << lines[3];
    EXPECT_TRUE(has(on_terminal({"job", "events", id}).output, "claimed"));
    EXPECT_EQ(list(parse(cli({"job", "events", id, "--json"}).output), "events"), api.events(id));
    EXPECT_EQ(cli({"job", "events", id, "-o", "jsonl", "--fields", "seq"}).output,
              "{\"seq\":1}\n{\"seq\":2}\n{\"seq\":3}\n");
}

TEST_F(CliJob, ExplainsWhyAJobWaits) {
    const std::string site = fresh_name("site");
    const std::string holder = api.submit_id({{"site_id", site}});
    const Json lease = api.claim_one();
    const std::string id = api.submit_id({{"site_id", site}, {"type", "deploy"}});

    const Ended ended = on_terminal({"job", "explain", id});
    EXPECT_EQ(ended.code, 0);
    const auto lines = lines_of(ended.output);
    ASSERT_EQ(lines.size(), 4u) << ended.output;
    EXPECT_TRUE(lines[0].starts_with("QUEUED for ") && has(lines[0], "deploy in queue"))
        << lines[0];
    EXPECT_TRUE(lines[1].starts_with("  1 exclusive_key") && has(lines[1], holder)) << lines[1];
    EXPECT_TRUE(has(lines[1], "left)   ← decides")) << lines[1];
    EXPECT_TRUE(lines[2].starts_with("  2 ")) << lines[2];
    EXPECT_EQ(lines[3], "next: sluice job watch " + holder + ", or: sluice job cancel " + holder);

    EXPECT_EQ(parse(cli({"job", "explain", id, "--json"}).output), api.explain(id));
    EXPECT_TRUE(has(cli({"job", "explain", id, "-o", "plain"}).output, "exclusive_key\t"));
    EXPECT_TRUE(cli({"job", "explain", id, "-o", "name"}).output.starts_with("exclusive_key\n"));
    EXPECT_TRUE(has(cli({"job", "explain", holder}).output, "RUNNING for "));
    expect_ok(api.succeed(lease));
    EXPECT_TRUE(has(cli({"job", "explain", holder}).output, "SUCCEEDED "));
    const std::string failed = cli({"job", "explain", failed_job()}).output;
    EXPECT_TRUE(has(failed, "E_DISK") && has(failed, "sluice job replay")) << failed;
}

TEST_F(CliJob, ListsWorkers) {
    const std::string worker = fresh_name("worker");
    const std::string id = api.submit_id();
    api.claim_one({{"worker_id", worker}, {"types", List{"task"}}});

    const auto lines = lines_of(cli({"worker", "list"}).output);
    EXPECT_EQ(lines[0], "worker_id\ttenant\tqueues\ttypes\tlabels\twaiting\tlast_claim\tjobs");
    const std::string table = on_terminal({"worker", "list"}).output;
    EXPECT_TRUE(table.starts_with("WORKER") && has(table, worker)) << table;
    bool is_listed = false;
    for (const Json& seen : list(parse(cli({"worker", "list", "--json"}).output), "workers")) {
        if (text(seen, "worker_id") != worker) continue;
        is_listed = true;
        EXPECT_EQ(list(seen, "jobs").at(0), Json(id));
    }
    EXPECT_TRUE(is_listed);
}

TEST_F(CliJob, ShowsTheRequestOfEveryCommand) {
    const std::string id = api.submit_id();
    const std::vector<std::pair<Words, std::string>> cases{
        {{"job", "list", "--state", "failed"}, "/api/v1/jobs?"},
        {{"job", "get", id}, "/api/v1/jobs/" + id + "'"},
        {{"job", "logs", id}, "/logs"},
        {{"job", "logs", "-f", id}, "/stream"},
        {{"job", "wait", id}, "/api/v1/jobs/" + id},
        {{"job", "watch", id}, "/stream"},
        {{"job", "cancel", id, id.substr(0, 24)}, "/cancel"},
        {{"job", "replay", id}, "/replay"},
        {{"job", "explain", id}, "/explain"},
        {{"job", "events", id}, "/events"},
        {{"worker", "list"}, "/api/v1/workers"},
    };
    for (const auto& [words, path] : cases) {
        Words more = words;
        more.push_back("--curl");
        const Ended ended = cli(more);
        EXPECT_EQ(ended.code, 0) << words[1] << ended.errors;
        EXPECT_EQ(lines_of(ended.output).size(), 1u) << words[1];
        EXPECT_TRUE(ended.output.starts_with("curl ")) << words[1] << ended.output;
        EXPECT_TRUE(has(ended.output, path)) << ended.output;
    }
    EXPECT_EQ(api.state(id), "queued");
}

TEST_F(CliJob, EveryCommandSaysThatNoEngineAnswers) {
    const std::string id = "000000000000000000000000";
    for (const Words& words : std::vector<Words>{{"job", "list"},
                                                 {"job", "get", id},
                                                 {"job", "get", "@last"},
                                                 {"job", "logs", id},
                                                 {"job", "logs", "-f", id},
                                                 {"job", "wait", id},
                                                 {"job", "cancel", id},
                                                 {"job", "replay", id},
                                                 {"job", "explain", id},
                                                 {"job", "events", id},
                                                 {"job", "watch", id},
                                                 {"worker", "list"}}) {
        Words more = words;
        more.insert(more.end(), {"--server", "http://127.0.0.1:1"});
        const Ended ended = run_sluice(more);
        EXPECT_EQ(ended.code, 10) << words[1];
        EXPECT_TRUE(ended.errors.starts_with("sluice: ")) << ended.errors;
        EXPECT_EQ(lines_of(ended.errors).size(), 1u) << ended.errors;
    }
}

}  // namespace cli_job_test
}  // namespace sluice::e2e
