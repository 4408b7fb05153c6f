// Job types that the configuration binds to an executor, run by the engine itself.
#include <gtest/gtest.h>

#include <fstream>

#include "e2e/api.hpp"
#include "tests/support/test_http_server.hpp"

namespace sluice::e2e {
namespace executors_test {

using worker::test::HttpServer;

class Executors : public testing::Test {
  protected:
    // Starts an engine with these job types and one node, which is this machine.
    Api serve(const std::string& job_types) {
        const std::string config =
            file("sluice.toml",
                 job_types + "[nodes.here]\nhostname = \"127.0.0.1\"\nconnection = \"local\"\n");
        engine_ = std::make_unique<Engine>("memory:", std::vector<std::string>{"--config", config});
        return Api(engine_->port(), "default");
    }

    std::string file(const std::string& name, const std::string& content) {
        const std::string path = (folder_.path() / name).string();
        std::ofstream(path) << content;
        return path;
    }

    static std::string executor(const std::string& type, const std::string& settings) {
        return "[job_types." + type + "]\nmax_attempts = 1\n[job_types." + type + ".executor]\n" +
               settings + "\n";
    }

    static Json ended(Api& api, const std::string& id) {
        eventually([&] { return !is_null(api.job(id), "completed_at"); }, Millis(20'000));
        return api.job(id);
    }

  private:
    TempFolder folder_;
    std::unique_ptr<Engine> engine_;
};

TEST_F(Executors, RunPlaybooksOnTheNodeOfTheJob) {
    const std::string head = "- hosts: all\n  gather_facts: false\n  tasks:\n";
    const std::string good =
        file("good.yml", head + "    - debug: {msg: \"cache of {{ site_id }}: {{ path }}\"}\n");
    const std::string bad = file("bad.yml", head + "    - fail: {msg: the disk is full}\n");
    const auto play = [&](const std::string& type, const std::string& playbook) {
        return executor(type, "kind = \"ansible\"\nplaybook = \"" + playbook + "\"");
    };
    Api api = serve(play("cache_purge", good) + play("env_deploy", bad) + play("play", good));

    const std::string passing = api.submit_id({{"type", "cache_purge"},
                                               {"node_id", "here"},
                                               {"site_id", "site-1"},
                                               {"payload", {{"path", "{{ 6 * 7 }}"}}}});
    const std::string failing =
        api.submit_id({{"type", "env_deploy"}, {"site_id", "site-2"}, {"node_id", "here"}});
    const std::string nowhere = api.submit_id({{"type", "play"}});
    const std::string unknown = api.submit_id({{"type", "play"}, {"node_id", "there"}});

    const Json passed = ended(api, passing);
    EXPECT_EQ(text(passed, "state"), "succeeded") << text(passed, "error_message");
    EXPECT_EQ(number(at(at(passed, "result"), "recap"), "ok"), 1);
    const Json failed = ended(api, failing);
    EXPECT_EQ(text(failed, "error_code"), "ANSIBLE_HOST_FAILED");
    EXPECT_NE(text(failed, "error_message").find("the disk is full"), std::string::npos);
    EXPECT_EQ(text(ended(api, nowhere), "error_code"), "NODE_REQUIRED");
    EXPECT_EQ(text(ended(api, unknown), "error_code"), "NODE_UNKNOWN");
    std::string log;
    for (const Json& line : api.logs(passing)) log += text(line, "message") + "\n";
    EXPECT_NE(log.find("cache of site-1: {{ 6 * 7 }}"), std::string::npos) << log;
}

TEST_F(Executors, CallServices) {
    HttpServer server([](const std::string& request) {
        if (request.starts_with("POST /good?")) return HttpServer::answer("200 OK", "{\"n\":1}");
        return HttpServer::answer("422 No", R"({"detail":"no such order"})",
                                  "Content-Type: application/problem+json\r\n");
    });
    const auto call = [&](const std::string& type, const std::string& path, bool is_allowed) {
        return executor(type, "kind = \"http\"\nurl = \"" + server.url(path) +
                                  "?token=hush\"\nheaders = {Authorization = \"hush\"}\n" +
                                  "allow_private_addresses = " + (is_allowed ? "true" : "false"));
    };
    Api api = serve(call("good", "/good", true) + call("bad", "/bad", true) +
                    call("refused", "/good", false));

    const std::string good = api.submit_id({{"type", "good"}, {"payload", {{"order", 5}}}});
    const std::string bad = api.submit_id({{"type", "bad"}});
    const std::string refused = api.submit_id({{"type", "refused"}});

    const Json passed = ended(api, good);
    EXPECT_EQ(text(passed, "state"), "succeeded") << text(passed, "error_message");
    EXPECT_EQ(number(at(passed, "result"), "n"), 1);
    const Json failed = ended(api, bad);
    EXPECT_EQ(text(failed, "error_code"), "HTTP_422");
    EXPECT_EQ(text(failed, "error_message"), "HTTP 422: no such order");
    EXPECT_EQ(text(ended(api, refused), "error_code"), "HTTP_ADDRESS_REFUSED");
    for (const std::string& id : {good, bad, refused}) {
        const std::string all = boost::json::serialize(api.logs(id)) +
                                boost::json::serialize(api.events(id)) +
                                boost::json::serialize(api.job(id));
        EXPECT_EQ(all.find("hush"), std::string::npos) << all;
    }
}

TEST_F(Executors, CheckWithMsuiteAndShowTheDemo) {
    Api api = serve(executor("msuite_submit", "kind = \"msuite\"\nsimulate = {test_count = 12}") +
                    executor("msuite_merge",
                             "kind = \"msuite\"\nsimulate = {pass = false, failures = [\"a\"]}") +
                    "[job_types.\"demo.flaky\"]\nbackoff = \"none\"\n"
                    "[job_types.\"demo.flaky\".executor]\nkind = \"demo\"\n");

    const std::string submit =
        api.submit_id({{"type", "msuite_submit"}, {"payload", {{"changeset_id", "cs-1"}}}});
    const std::string merge =
        api.submit_id({{"type", "msuite_merge"}, {"payload", {{"release_id", "r-1"}}}});
    const std::string missing = api.submit_id({{"type", "msuite_submit"}});
    const std::string flaky = api.submit_id({{"type", "demo.flaky"}, {"max_attempts", 3}});

    EXPECT_EQ(number(at(ended(api, submit), "result"), "test_count"), 12);
    const Json failed = ended(api, merge);
    EXPECT_EQ(text(failed, "error_code"), "MSUITE_FAILED");
    EXPECT_EQ(text(failed, "error_message"), "msuite merge did not pass for release r-1: a");
    const Json invalid = ended(api, missing);
    EXPECT_EQ(text(invalid, "error_code"), "VALIDATION_ERROR");
    EXPECT_EQ(text(invalid, "error_message"), "missing changeset_id in payload");
    const Json third = ended(api, flaky);
    EXPECT_EQ(text(third, "state"), "succeeded");
    EXPECT_EQ(number(third, "attempt"), 3);
}

}  // namespace executors_test
}  // namespace sluice::e2e
