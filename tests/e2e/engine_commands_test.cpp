// The commands that run, configure or inspect an engine: dev, config, doctor, audit; and jobs that
// the engine runs itself.
#include <gtest/gtest.h>

#include <csignal>
#include <fstream>

#include "e2e/cli.hpp"

namespace sluice::e2e {
namespace engine_commands_test {

class EngineCommands : public testing::Test {
  protected:
    std::string path(const std::string& name) const { return (folder.path() / name).string(); }
    std::string store() const { return "sqlite:" + path("store.db"); }

    std::string write(const std::string& name, const std::string& text) const {
        std::ofstream(path(name)) << text;
        return path(name);
    }

    const TempFolder folder;
};

TEST_F(EngineCommands, ConfigShowTellsValuesAndWhereTheyComeFrom) {
    const std::string file = write(
        "a.toml", "node = 3\n[job_types.mail.executor]\nkind = \"command\"\nargv = [\"x\"]\n");
    const Words words{"config", "show", "--config", file, "--listen", "127.0.0.1:1"};

    const Ended plain = run_sluice(words);
    EXPECT_EQ(plain.code, 0) << plain.errors;
    EXPECT_TRUE(has(plain.output, "node\t3\t" + file + ":1\n")) << plain.output;
    EXPECT_TRUE(has(plain.output, "listen\t\"127.0.0.1:1\"\t--listen\n"));
    EXPECT_TRUE(has(plain.output, "lease.max\t\"1h\"\tdefault\n"));
    EXPECT_TRUE(has(plain.output, "job_types.mail.executor.argv\t[\"x\"]\t" + file + ":4\n"));
    EXPECT_FALSE(has(plain.output, "msuite_submit"));

    Words all = words;
    all.push_back("--all");
    EXPECT_TRUE(has(run_sluice(all).output, "job_types.msuite_submit.max_attempts\t4\tdefault"));

    Words as_json = words;
    as_json.push_back("--json");
    const Json document = parse(run_sluice(as_json).output);
    EXPECT_EQ(text(list(document, "settings").at(0), "key"), "listen");

    const Ended shown = run_on_terminal(words);
    EXPECT_TRUE(has(shown.output, "node ")) << shown.output;
    EXPECT_FALSE(has(shown.output, "\t"));
}

TEST_F(EngineCommands, ConfigCheckSaysEveryMistake) {
    const std::string bad = write("bad.toml", "lissen = \"x\"\n[runner]\nconcurrency = 0\n");
    const Ended refused = run_sluice({"config", "check", "--config", bad});
    EXPECT_EQ(refused.code, 1);
    EXPECT_TRUE(has(refused.errors, bad + ":1: unknown key \"lissen\"; did you mean \"listen\"?"))
        << refused.errors;
    EXPECT_TRUE(has(refused.errors, bad + ":3: runner.concurrency"));

    const std::string good = write("good.toml", "node = 1\n");
    EXPECT_EQ(run_sluice({"config", "check", "--config", good}).code, 0);
    EXPECT_EQ(run_sluice({"config", "check"}).code, 0);
    EXPECT_EQ(run_sluice({"config", "check", "--config", path("none.toml")}).code, 1);
    EXPECT_EQ(run_sluice({"config", "check", "--listen", "nowhere"}).code, 1);
    EXPECT_EQ(run_sluice({"config", "chek"}).code, 2);
}

TEST_F(EngineCommands, ConfigCheckAndDoctorRefuseWhatServeRefuses) {
    const auto expect_refused = [&](const std::string& settings, const std::string& what) {
        const std::string file = write("refused.toml", settings);
        const Ended served = run_sluice({"serve", "--config", file});
        EXPECT_EQ(served.code, 1) << settings;
        EXPECT_TRUE(has(served.errors, what)) << served.errors;
        const Ended checked = run_sluice({"config", "check", "--config", file});
        EXPECT_EQ(checked.code, 1) << settings;
        EXPECT_TRUE(has(checked.errors, what)) << checked.errors;
        const Ended seen = run_sluice({"doctor", "--config", file});
        EXPECT_EQ(seen.code, 1) << settings;
        EXPECT_TRUE(has(seen.output, what)) << seen.output;
    };
    const std::string place = "store = \"" + store() + "\"\n";
    expect_refused(place + "no_auth = true\nlisten = \"0.0.0.0:7401\"\n", "loopback only");
    expect_refused(place + "listen = \"0.0.0.0:7401\"\n", "plain text");
    expect_refused(place + "listen = \"example.com:7401\"\nplaintext = true\n",
                   "not an IP address");
    expect_refused(place + "allowed_hosts = [\"https://a/b\"]\n", "allowed_hosts");
    expect_refused("store = \"mysql://x\"\n", "\"mysql://x\" is not a store");
    expect_refused("store = \"sqlite:/tmp\"\n", "/tmp is a directory; name a file in it");
    expect_refused(
        place + "[auth.jwt]\nissuer = \"i\"\naudience = \"a\"\njwks = \"/nonexist.json\"\n",
        "auth.jwt: /nonexist.json: the file of auth.jwt.jwks cannot be read");

    const std::string two = write("two.toml", "store = \"mysql://x\"\nlisten = \"0.0.0.0:1\"\n");
    const Ended both = run_sluice({"config", "check", "--config", two});
    EXPECT_EQ(lines_of(both.errors).size(), 2u) << both.errors;
    EXPECT_EQ(run_sluice({"config", "check", "--no-auth", "--listen", "0.0.0.0:1"}).code, 1);
}

TEST_F(EngineCommands, DoctorFindsWhatIsWrong) {
    const Ended good = run_sluice({"doctor", "--listen", "127.0.0.1:1", "--store", store()});
    EXPECT_EQ(good.code, 0) << good.output;

    const std::string file =
        write("a.toml",
              "[job_types.a.executor]\nkind = \"command\"\nargv = [\"/no/such/program\"]\n"
              "[job_types.b.executor]\nkind = \"ansible\"\nplaybook = \"/no/playbook.yml\"\n"
              "[nodes.n]\nhostname = \"h\"\nkey_file = \"/no/key\"\n");
    const Ended bad = run_sluice(
        {"doctor", "--listen", "127.0.0.1:1", "--store", store(), "--config", file, "--json"});
    EXPECT_EQ(bad.code, 1);
    for (const char* what : {"/no/such/program", "/no/playbook.yml", "/no/key"}) {
        EXPECT_TRUE(has(bad.output, what)) << what << bad.output;
    }
    EXPECT_EQ(text(list(parse(bad.output), "findings").at(0), "verdict"), "ok");

    EXPECT_EQ(run_sluice({"doctor", "--config", path("none.toml")}).code, 1);

    const std::string mistakes = write("b.toml", "node = -1\ncommitters = 0\n");
    const Ended two = run_sluice({"doctor", "--config", mistakes});
    EXPECT_TRUE(has(two.output, "fail  configuration  " + mistakes + ":2: committers"))
        << two.output;
}

TEST_F(EngineCommands, DoctorSeesAnEngineThatServes) {
    Engine& engine = shared_engine("memory");
    const std::string address = "127.0.0.1:" + std::to_string(engine.port());

    const Ended seen = run_sluice({"doctor", "--listen", address, "--store", store()});

    EXPECT_TRUE(has(seen.output, "serves on http://" + address)) << seen.output;
}

TEST_F(EngineCommands, AuditExportsEverythingThatHappened) {
    std::string first;
    {
        Engine engine(store());
        Api api(engine.port(), "q");
        first = api.submit_id();
        const Json lease = api.claim_one();
        expect_ok(api.log(lease, {Fields{{"message", "one"}}, Fields{{"message", "two"}}}));
        expect_ok(api.succeed(lease));
        api.submit();
        engine.stop();
    }
    const auto records = [](const std::string& output) {
        std::vector<Json> all;
        for (const std::string& line : lines_of(output)) all.push_back(parse(line));
        return all;
    };

    const Ended whole = run_sluice({"audit", "export", "--store", store(), "--logs"});
    ASSERT_EQ(whole.code, 0) << whole.errors;
    const auto all = records(whole.output);
    ASSERT_EQ(all.size(), 2u + 4u + 2u + 1u);
    EXPECT_EQ(text(all.front(), "record"), "job");
    EXPECT_EQ(text(at(all.front(), "job"), "id"), first);
    EXPECT_EQ(text(all[1], "record"), "event");
    EXPECT_EQ(text(all[1], "job_id"), first);
    EXPECT_EQ(text(at(all[4], "log"), "message"), "one");
    EXPECT_EQ(text(all.back(), "record"), "end");
    EXPECT_EQ(number(all.back(), "jobs"), 2);
    EXPECT_EQ(number(all.back(), "events"), 4);
    EXPECT_EQ(number(all.back(), "logs"), 2);

    const Words one{"audit", "export", "--store", store(), "--job", first, "--file", path("out")};
    EXPECT_EQ(run_sluice(one).code, 0);
    EXPECT_EQ(run_sluice(one).code, 1) << "a file is never written over";
    std::ifstream file(path("out"));
    const std::string exported{std::istreambuf_iterator<char>(file), {}};
    EXPECT_EQ(records(exported).size(), 1u + 3u + 1u);

    EXPECT_EQ(run_sluice({"audit", "export", "--store", store(), "--job", "abc"}).code, 2);
    EXPECT_EQ(
        run_sluice({"audit", "export", "--store", store(), "--job", std::string(24, '0')}).code, 2);
    EXPECT_EQ(
        run_sluice({"audit", "export", "--store", store(), "--job", "6af930d6039a000000000000"})
            .code,
        5);
}

TEST_F(EngineCommands, DevServesAndRunsTheDemoJobs) {
    Process dev(sluice_command({"dev", "--listen", "127.0.0.1:0", "--store", store()}));
    const auto line = dev.read_line(Millis(10'000));
    ASSERT_TRUE(line);
    const std::string address = text(parse(*line), "address");

    const Ended run = run_sluice(
        {"run", "demo.hello", "--data", R"({"name":"Ada"})", "--wait", "--server", address});

    EXPECT_EQ(run.code, 0) << run.errors;
    EXPECT_TRUE(has(run.output, "Hello, Ada!")) << run.output;
    EXPECT_EQ(
        run_sluice({"run", "msuite_submit", "--data", "{}", "--wait", "--server", address}).code, 3)
        << "there is no changeset_id";
    dev.send_signal(SIGTERM);
    EXPECT_EQ(dev.wait(Millis(10'000)), 0);
    EXPECT_TRUE(has(dev.errors(), "run demo.hello --data")) << dev.errors();
    EXPECT_TRUE(has(dev.errors(), "nothing is lost")) << dev.errors();
}

TEST_F(EngineCommands, DevDoesNotPromiseToKeepWhatIsInMemoryAndServesThisMachineOnly) {
    Process dev({SLUICE_BINARY, "dev", "--listen", "127.0.0.1:0", "--store", "memory:"});
    ASSERT_TRUE(dev.read_line(Millis(10'000)));
    dev.send_signal(SIGTERM);
    EXPECT_EQ(dev.wait(Millis(10'000)), 0);
    EXPECT_TRUE(has(dev.errors(), "Ctrl-C stops it; memory: keeps nothing.")) << dev.errors();

    const Ended open = run_sluice({"dev", "--listen", "0.0.0.0:0", "--store", "memory:"});
    EXPECT_EQ(open.code, 1);
    EXPECT_FALSE(has(open.errors, "--no-auth")) << open.errors;
}

class EngineRunner : public EngineCommands {
  protected:
    // A job whose engine was asked to stop while it ran this script, as the next engine shows it.
    Json stopped_while_running(const std::string& script, const std::string& grace) const {
        const std::string config = "[runner]\nshutdown_grace = \"" + grace +
                                   "\"\n[job_types.slow.executor]\nkind = \"command\"\n" +
                                   "argv = [\"sh\", \"-c\", \"" + script + "\"]\n";
        std::string id;
        {
            Engine engine(store(), {"--config", write("a.toml", config)});
            Api api(engine.port(), "q");
            id = api.submit_id({{"type", "slow"}});
            EXPECT_TRUE(eventually([&] { return !api.logs(id).empty(); }));
            EXPECT_EQ(engine.stop(), 0);
        }
        Engine engine(store());
        return Api(engine.port(), "q").job(id);
    }
};

TEST_F(EngineRunner, ServesEveryTenant) {
    const std::string config = "[job_types.\"demo.hello\".executor]\nkind = \"demo\"\n";
    Engine engine("memory:", {"--config", write("a.toml", config)});
    Api api(engine.port(), "q");

    const std::string mine = api.submit_id({{"type", "demo.hello"}});
    const std::string theirs = api.submit_id({{"type", "demo.hello"}, {"tenant", "acme"}});

    EXPECT_TRUE(eventually([&] { return api.state(theirs) == "running"; }));
    const List workers = list(api.get("/api/v1/workers"), "workers");
    ASSERT_EQ(workers.size(), 1u);
    EXPECT_TRUE(is_null(workers.at(0), "tenant"));
    EXPECT_FALSE(list(workers.at(0), "jobs").empty());
    EXPECT_TRUE(api.reaches(mine, "succeeded"));
    EXPECT_TRUE(api.reaches(theirs, "succeeded"));
}

TEST_F(EngineRunner, FailsJobsOfATypeThatItTakesWithoutAnExecutor) {
    Engine engine("memory:", {"--config", write("a.toml", "[runner]\ntypes = [\"orphan\"]\n")});
    Api api(engine.port(), "q");

    const std::string id = api.submit_id({{"type", "orphan"}});

    EXPECT_TRUE(api.reaches(id, "failed"));
    EXPECT_EQ(text(api.job(id), "error_message"), "no worker registered for job type orphan");
    EXPECT_EQ(number(api.job(id), "attempt"), 1);
}

TEST_F(EngineRunner, LetsItsJobsFinishWhenTheEngineStops) {
    const Json job = stopped_while_running("echo started; sleep 0.7", "10s");

    EXPECT_EQ(text(job, "state"), "succeeded");
    EXPECT_EQ(number(job, "attempt"), 1);
}

TEST_F(EngineRunner, HandsBackWhatDoesNotFinishInTime) {
    const Json job = stopped_while_running("echo started; sleep 30", "0s");

    EXPECT_EQ(text(job, "state"), "queued");
    EXPECT_EQ(number(job, "attempt"), 0) << "the attempt does not count";
}

// A file has one engine, so the next one knows that those jobs run no more. Where several nodes
// share a database only the leases tell.
class SqliteRunner : public EngineRunner {};

TEST_F(SqliteRunner, JobsOfAnEngineThatDiedAreTriedAgainAtOnce) {
    const std::string config = write(
        "a.toml",
        "[job_types.slow]\nbackoff = \"none\"\n[job_types.slow.executor]\nkind = \"command\"\n"
        "argv = [\"sh\", \"-c\", \"echo started; test $SLUICE_ATTEMPT = 2 || sleep 60\"]\n");
    std::string id;
    {
        Engine engine(store(), {"--config", config});
        Api api(engine.port(), "q");
        id = api.submit_id({{"type", "slow"}});
        ASSERT_TRUE(eventually([&] { return !api.logs(id).empty(); }));
        engine.kill();
    }
    Engine engine(store(), {"--config", config});
    Api api(engine.port(), "q");

    EXPECT_TRUE(api.reaches(id, "succeeded")) << "without waiting for the lease of 30 s";
    EXPECT_EQ(number(api.job(id), "attempt"), 2);
    EXPECT_EQ(api.steps(id), (Words{"submitted", "claimed", "retried", "claimed", "succeeded"}));
}

ON_EACH_STORE(WorkersList);

TEST_P(WorkersList, TellsWhoTakesJobs) {
    const std::string name = fresh_name("worker");
    const auto mine = [&]() -> std::optional<Json> {
        for (const Json& worker : list(api.get("/api/v1/workers"), "workers")) {
            if (text(worker, "worker_id") == name) return worker;
        }
        return std::nullopt;
    };
    EXPECT_FALSE(mine());
    const std::string id = api.submit_id();
    const Json lease = api.claim_one({{"worker_id", name}, {"labels", {"gpu"}}});

    const auto seen = mine();
    ASSERT_TRUE(seen);
    EXPECT_EQ(list(*seen, "jobs").size(), 1u);
    EXPECT_EQ(list(*seen, "jobs").at(0).as_string(), id);
    EXPECT_EQ(list(*seen, "queues").at(0).as_string(), api.queue());
    EXPECT_EQ(list(*seen, "labels").at(0).as_string(), "gpu");
    EXPECT_EQ(text(*seen, "tenant"), "default");
    EXPECT_FALSE(flag(*seen, "waiting"));
    EXPECT_FALSE(is_null(*seen, "last_claim"));

    expect_ok(api.succeed(lease));
    EXPECT_TRUE(list(*mine(), "jobs").empty());
    expect_refused(api.http.get("/api/v1/workers?limit=1"), 400, "malformed");
}

TEST(IPv6, ServesOnIt) {
    Process engine(
        sluice_command({"serve", "--no-auth", "--listen", "[::1]:0", "--store", "memory:"}));
    const auto line = engine.read_line(Millis(10'000));
    if (!line) GTEST_SKIP() << "this machine has no IPv6: " << engine.errors();
    const std::string address = text(parse(*line), "address");

    const Ended listed = run_sluice({"job", "list", "--server", address});

    EXPECT_EQ(listed.code, 0) << address << listed.errors;
    EXPECT_TRUE(address.starts_with("http://[::1]:")) << address;
}

}  // namespace engine_commands_test
}  // namespace sluice::e2e
