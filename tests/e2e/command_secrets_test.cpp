// Commands do not get the secrets of the engine and of workers; and when a command has got one all
// the same and prints it, it is in no log, stream, export or store.
#include <fstream>
#include <iterator>

#include "e2e/cli.hpp"
#include "e2e/guarded_engine.hpp"
#include "e2e/token_support.hpp"

namespace sluice::e2e {
namespace command_secrets_test {

// Each secret contains this, and no other text does.
const std::string mark = "p1anted";
const std::string admin_token = "p1anted-admin-token-0123456789abcdef";

// Prints its own environment and that of all processes above it.
const std::string look_around =
    "echo looking; env; p=$$; while [ $p -gt 1 ]; do tr '\\0' '\\n' </proc/$p/environ; "
    "read -r pid name state p rest </proc/$p/stat; done; echo looked";

// Prints secrets that it has got by other means, on every channel.
const std::string tell =
    "for s in p1anted-admin-token-0123456789abcdef p1anted-shared-secret p1anted-runner-token "
    "p1anted-node-token p1anted-node-admin p1anted-header-token p1anted-url-password "
    "p1anted-db-password p1anted-passed-on p1anted-pg-password; do "
    "echo \"told $s\"; echo \"told $s\" >&2; echo \"::progress 5 $s\"; "
    "echo \"$s\" | base64 -w0; echo; done; "
    "echo '{\"error\":\"p1anted-admin-token-0123456789abcdef\","
    "\"error_code\":\"p1anted-shared-secret\"}' >&3; exit 9";

std::string executor(const std::string& type, const std::string& settings) {
    return "[job_types." + type + "]\nmax_attempts = 1\n[job_types." + type + ".executor]\n" +
           settings + "\n";
}

std::string shell(const std::string& key, const std::string& script) {
    return key + " = [\"/bin/sh\", \"-c\", '''" + script + "''']\n";
}

constexpr const char* more_environment =
    "pass_environment = [\"SERVICE_API_KEY\", \"GREETING\", \"NOT_SET_AT_ALL\"]\n"
    "environment = {DB_PASSWORD = \"p1anted-db-password\", MODE = \"production\"}\n";

std::string configuration(const std::string& playbook) {
    return "[deploy]\nshared_secret = \"p1anted-shared-secret\"\n"
           "runner_tokens = [\"p1anted-runner-token\"]\nnode_token = \"p1anted-node-token\"\n"
           "admin_token = \"p1anted-node-admin\"\n"
           "[nodes.here]\nhostname = \"127.0.0.1\"\nconnection = \"local\"\n" +
           executor("look", "kind = \"command\"\n" + shell("argv", look_around)) +
           executor("tell", "kind = \"command\"\n" + shell("argv", tell)) +
           executor("more", "kind = \"command\"\n" + shell("argv", "env") + more_environment) +
           executor("msuite_submit", "kind = \"msuite\"\n" + shell("command", look_around)) +
           executor("play",
                    "kind = \"ansible\"\nplaybook = \"" + playbook + "\"\n" + more_environment) +
           executor("call",
                    "kind = \"http\"\nurl = \"https://me:p1anted-url-password@127.0.0.1:1/x\"\n"
                    "headers = {Authorization = \"Bearer p1anted-header-token\"}\n");
}

class CommandSecrets : public testing::Test {
  protected:
    CommandSecrets() {
        const std::string playbook = file("play.yml",
                                          "- hosts: all\n  gather_facts: false\n  tasks:\n"
                                          "    - shell: " +
                                              look_around +
                                              "\n      register: seen\n"
                                              "    - debug: {var: seen.stdout_lines}\n");
        const Words flags{"--config", file("sluice.toml", configuration(playbook))};
        Words environment{"SLUICE_ADMIN_TOKEN=" + admin_token,
                          "SLUICE_STORE=postgres://me:p1anted-store-password@127.0.0.1:1/x",
                          "SLUICE_TOKEN=p1anted-token-of-a-tool",
                          "PGPASSWORD=p1anted-pg-password",
                          "SERVICE_API_KEY=p1anted-passed-on",
                          "GREETING=hello to all",
                          "LC_CANARY=usual"};
        engine = std::make_unique<Engine>(Engine::Guarded{}, store, flags, environment);
        http = std::make_unique<Client>(engine->port());
    }

    std::string file(const std::string& name, const std::string& content) {
        const std::string path = (folder.path() / name).string();
        std::ofstream(path) << content;
        return path;
    }

    std::string fetch(const std::string& path) {
        return http->get(path, with_token(admin_token)).body;
    }

    std::string submit(const Fields& fields) {
        const Response answer =
            http->post("/api/v1/jobs", boost::json::serialize(fields), with_token(admin_token));
        return text(expect_ok(answer, 202), "id");
    }

    // Runs the job to its end, and returns its log.
    std::string run(const Fields& fields) {
        const std::string id = submit(fields);
        EXPECT_TRUE(
            eventually([&] { return !is_null(parse(fetch("/api/v1/jobs/" + id)), "completed_at"); },
                       Millis(30'000)))
            << fetch("/api/v1/jobs/" + id);
        return log_of(id);
    }

    // Everything that can be read of the job, by every request that reads it.
    std::string log_of(const std::string& id) {
        std::string all;
        for (const char* path : {"/api/v1/jobs/", "/api/jobs/"}) {
            for (const char* part : {"", "/events", "/logs", "/explain"}) {
                all += fetch(path + id + part) + "\n";
            }
            EventStream stream(engine->port(), path + id + "/stream", with_token(admin_token));
            for (const StreamEvent& event : stream.rest()) all += event.data + "\n";
        }
        return all;
    }

    void expect_clean(const std::string& text, const std::string& what) {
        // The second one is the beginning of every mark in base64.
        for (const std::string& secret : {mark, std::string("cDFhbnRlZC")}) {
            const std::size_t at = text.find(secret);
            EXPECT_EQ(at, std::string::npos) << what << ": " << text.substr(at, 200);
        }
    }

    void expect_nothing_left() {
        EXPECT_EQ(engine->stop(), 0);
        expect_clean(engine->process().output() + engine->process().errors(), "the engine");
        const Ended exported = run_sluice({"audit", "export", "--logs", "--store", store});
        EXPECT_EQ(exported.code, 0) << exported.errors;
        expect_clean(exported.output, "audit export");
        // The hashes are over the stored form.
        const Ended verified = run_sluice({"audit", "verify", "--store", store});
        EXPECT_EQ(verified.code, 0) << verified.errors;
        for (const auto& entry : std::filesystem::directory_iterator(folder.path())) {
            if (!entry.path().filename().string().starts_with("db")) continue;
            std::ifstream bytes(entry.path(), std::ios::binary);
            expect_clean(std::string(std::istreambuf_iterator<char>(bytes), {}), entry.path());
        }
    }

    const TempFolder folder;
    const std::string store = "sqlite:" + (folder.path() / "db").string();
    std::unique_ptr<Engine> engine;
    std::unique_ptr<Client> http;
};

TEST_F(CommandSecrets, AreNotInTheEnvironmentOfExecutors) {
    for (const Fields& job :
         {Fields{{"type", "look"}},
          Fields{{"type", "msuite_submit"}, {"payload", Fields{{"changeset_id", "c1"}}}},
          Fields{{"type", "play"}, {"node_id", "here"}}}) {
        const std::string type = std::string(job.at("type").as_string());
        const std::string seen = run(job);
        EXPECT_TRUE(has(seen, "looked")) << seen;
        EXPECT_TRUE(has(seen, "PATH=")) << seen;
        EXPECT_TRUE(has(seen, "LC_CANARY=usual")) << seen;
        expect_clean(seen, type);
        if (type == "play") continue;  // which is given more
        EXPECT_FALSE(has(seen, "GREETING")) << seen;
        for (const char* name : {"SLUICE_ADMIN_TOKEN=", "SLUICE_STORE=p", "PGPASSWORD"}) {
            EXPECT_FALSE(has(seen, std::string(name) + "p")) << type;
        }
    }
    expect_nothing_left();
}

TEST_F(CommandSecrets, ThatACommandTellsAreReplacedBeforeTheyAreStored) {
    const std::string seen = run({{"type", "tell"}});
    expect_clean(seen, "tell");
    EXPECT_TRUE(has(seen, "told ***")) << seen;
    EXPECT_TRUE(has(seen, R"("error_code":"***")")) << seen;
    EXPECT_TRUE(has(seen, R"("error_message":"***")")) << seen;
    expect_nothing_left();
}

TEST_F(CommandSecrets, VariablesThatTheConfigurationNamesArePassed) {
    const std::string seen = run({{"type", "more"}});
    EXPECT_TRUE(has(seen, "GREETING=hello to all")) << seen;
    EXPECT_TRUE(has(seen, "MODE=production")) << seen;
    // The variables are there, and their names mark them as secrets.
    EXPECT_TRUE(has(seen, "SERVICE_API_KEY=***")) << seen;
    EXPECT_TRUE(has(seen, "DB_PASSWORD=***")) << seen;
    EXPECT_FALSE(has(seen, "NOT_SET_AT_ALL")) << seen;
    expect_clean(seen, "more");
    const std::string played = run({{"type", "play"}, {"node_id", "here"}});
    EXPECT_TRUE(has(played, "GREETING=hello to all")) << played;
    EXPECT_TRUE(has(played, "DB_PASSWORD=***")) << played;
    expect_nothing_left();
}

TEST_F(CommandSecrets, OfAWorkerAreKeptFromItsCommand) {
    const Response made =
        http->post("/api/v1/tokens", R"({"name":"w","kind":"worker"})", with_token(admin_token));
    const std::string token = text(expect_ok(made, 201), "token");
    const std::string server = "http://127.0.0.1:" + std::to_string(engine->port());
    // The command has the token from another source, and prints it.
    const std::string script = look_around + "; cat '" + file("stolen", token + "\n") +
                               "'; echo '{\"error\":\"" + token + "\"}' >&3; exit 4";
    Words command{"work",
                  "--server",
                  server,
                  "--types",
                  "remote",
                  "--env",
                  "GREETING",
                  "--env",
                  "MODE=a=b",
                  "--env",
                  "MY_PASSWORD=p1anted-by-flag"};
    for (const char* word : {"--exec", "/bin/sh", "-c"}) command.push_back(word);
    command.push_back(script);
    Process worker(in_environment({"SLUICE_TOKEN=" + token, "SLUICE_ADMIN_TOKEN=" + admin_token,
                                   "GREETING=hello to all", "OTHER=p1anted-other"},
                                  sluice_command(command)));

    const std::string seen = run({{"type", "remote"}, {"max_attempts", 1}});

    EXPECT_TRUE(has(seen, "looked")) << seen;
    EXPECT_TRUE(has(seen, "GREETING=hello to all")) << seen;
    EXPECT_TRUE(has(seen, "MODE=a=b")) << seen;
    EXPECT_TRUE(has(seen, "MY_PASSWORD=***")) << seen;
    EXPECT_TRUE(has(seen, R"("error_message":"***")")) << seen;
    EXPECT_FALSE(has(seen, secret_of(token))) << seen;
    EXPECT_FALSE(has(seen, "OTHER=")) << seen;
    worker.send_signal(SIGTERM);
    worker.wait(Millis(10'000));
    expect_clean(seen, "the worker's command");
    expect_nothing_left();
}

TEST(CommandSecretsOfWork, NamesOfVariablesAreChecked) {
    for (const char* word : {"1A", "A-B=c", "=x", ""}) {
        const Ended ended = run_sluice({"work", "--types", "t", "--env", word, "--exec", "cat"});
        EXPECT_EQ(ended.code, 2) << word << ended.errors;
        EXPECT_TRUE(has(ended.errors, "--env")) << ended.errors;
    }
}

}  // namespace command_secrets_test
}  // namespace sluice::e2e
