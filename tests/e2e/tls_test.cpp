// The engine with TLS, as clients and operators use it.
#include <signal.h>

#include <atomic>
#include <fstream>
#include <thread>

#include "e2e/api.hpp"
#include "sluice/client.hpp"
#include "support/test_certificate.hpp"
#include "support/tls_client.hpp"

namespace sluice::e2e {
namespace tls_test {

class Tls : public testing::Test {
  protected:
    Tls() : certificate(make_certificate(folder.path(), "server", "first")) { write_config(); }

    void write_config(const std::string& more = {}) const {
        std::ofstream(config()) << "[tls]\ncertificate = \"" << certificate.certificate
                                << "\"\nkey = \"" << certificate.key << "\"\n"
                                << more;
    }
    std::string config() const { return (folder.path() / "sluice.toml").string(); }

    std::unique_ptr<Engine> start() const {
        return std::make_unique<Engine>("memory:", std::vector<std::string>{"--config", config()});
    }
    client::Options options_for(const Engine& engine) const {
        client::Options options;
        options.server = address_of(engine);
        options.ca_file = certificate.certificate;
        options.patience = Millis(0);
        return options;
    }
    static std::string address_of(const Engine& engine) {
        return "https://127.0.0.1:" + std::to_string(engine.port());
    }

    TempFolder folder;
    TestCertificate certificate;
};

client::NewJob task() {
    client::NewJob job;
    job.type = "task";
    return job;
}

// Claims the one waiting job and reports that it succeeded.
void work_one(client::Client& client) {
    const Json answer = parse(client.call("POST", "/api/v1/leases", R"({"worker_id":"w"})", false));
    const List& leases = list(answer, "leases");
    ASSERT_EQ(leases.size(), 1u);
    client.call("POST", "/api/v1/leases/" + text(leases.front(), "lease_id") + "/report",
                R"({"outcome":"succeeded"})", false);
}

int waiting_claims(client::Client& client) {
    const std::string page = client.call("GET", "/metrics", "", true);
    const std::string name = "\nsluice_waiting_claims ";
    return std::stoi(page.substr(page.find(name) + name.size()));
}

TEST_F(Tls, AJobIsSubmittedFollowedClaimedAndReported) {
    const auto engine = start();
    client::Client client(options_for(*engine));
    const client::Job job = client.submit(task());
    std::vector<std::string> seen;
    std::thread follower([&] {
        client::Client other(options_for(*engine));
        EXPECT_TRUE(other.follow(job.id, 0, [&](const client::Update& update) {
            if (update.status) seen.push_back(update.status->type);
            return true;
        }));
    });

    work_one(client);

    follower.join();
    EXPECT_EQ(seen.back(), "succeeded");
    EXPECT_EQ(engine->stop(), 0);
}

TEST_F(Tls, TheCommandLineTrustsTheAuthorityThatItIsGiven) {
    const auto engine = start();
    const std::string server = address_of(*engine);

    const Ended trusted = run_sluice(
        {"run", "task", "--server", server, "--ca-file", certificate.certificate, "-o", "name"});
    EXPECT_EQ(trusted.code, 0) << trusted.errors;
    const Ended untrusted = run_sluice({"job", "list", "--server", server});
    EXPECT_EQ(untrusted.code, 10);
    EXPECT_NE(untrusted.errors.find("no trusted connection"), std::string::npos)
        << untrusted.errors;
    client::Client client(options_for(*engine));
    EXPECT_EQ(client.list().jobs.size(), 1u);
}

TEST_F(Tls, LargeBodiesGoBothWays) {
    const auto engine = start();
    client::Client client(options_for(*engine));
    std::vector<client::NewJob> jobs(25, task());
    for (client::NewJob& job : jobs) job.payload = '"' + std::string(250'000, 'p') + '"';

    const auto submitted = client.submit(jobs);

    ASSERT_EQ(submitted.size(), jobs.size());
    for (const client::Job& job : submitted) {
        EXPECT_NE(client.call("GET", "/api/v1/jobs/" + job.id, "", true).find(jobs[0].payload),
                  std::string::npos);
    }
}

TEST_F(Tls, AClaimWhosePeerHangsUpTakesNoJob) {
    const auto engine = start();
    client::Client client(options_for(*engine));
    for (const bool says_goodbye : {true, false}) {
        TlsClient worker(engine->port());
        worker.send(
            request_text("POST", "/api/v1/leases", R"({"worker_id":"gone","wait_ms":20000})"));
        ASSERT_TRUE(eventually([&] { return waiting_claims(client) == 1; }));

        if (says_goodbye) {
            worker.say_goodbye();
        } else {
            worker.close();
        }
        ASSERT_TRUE(eventually([&] { return waiting_claims(client) == 0; }));
    }
    const client::Job job = client.submit(task());
    EXPECT_EQ(client.get(job.id).state, client::State::queued);
}

TEST_F(Tls, NothingOlderThan12AndNothingThatIsNoTlsIsServed) {
    write_config("[limits]\nheader_time = \"300ms\"\n");
    const auto engine = start();
    EXPECT_FALSE(
        TlsClient(engine->port(), {.version_min = TLS1_1_VERSION, .version_max = TLS1_1_VERSION})
            .is_connected());
    Client plain(engine->port());
    plain.send(request_text("POST", "/api/v1/jobs", R"({"type":"task"})"));
    EXPECT_EQ(plain.receive().value_or(Response{}).status, 400);
    Client garbage(engine->port());
    garbage.send(std::string(5000, '\x17'));
    EXPECT_TRUE(eventually([&] { return garbage.receive_some(Millis(1000)).empty(); }));
    Client silent(engine->port());
    EXPECT_TRUE(silent.is_closed_by_peer(Millis(5000))) << "a slow handshake is not cut";

    client::Client client(options_for(*engine));
    EXPECT_TRUE(client.list().jobs.empty());
}

TEST_F(Tls, AReloadUnderLoadLosesNoRequest) {
    const auto engine = start();
    std::atomic<bool> stop = false;
    std::atomic<int> asked = 0, answered = 0, with_second = 0;
    std::vector<std::thread> load;
    for (int i = 0; i < 3; ++i) {
        load.emplace_back([&] {
            while (!stop) {
                TlsClient client(engine->port());
                if (client.server_name() == "second") ++with_second;
                for (int round = 0; round < 5; ++round) {
                    ++asked;
                    client.send(request_text("POST", "/api/v1/jobs", R"({"type":"task"})"));
                    const auto body = client.receive_answer();
                    if (body && body->find("\"queued\"") != std::string::npos) ++answered;
                }
            }
        });
    }
    // A file that fails, and then the new one, again and again.
    std::ofstream(certificate.certificate) << "half of a file";
    engine->process().send_signal(SIGHUP);
    const auto failed = engine->process().read_line(Millis(10'000));
    make_certificate(folder.path(), "server", "second");
    bool all_reloaded = true;
    for (int i = 0; i < 20; ++i) {
        engine->process().send_signal(SIGHUP);
        const auto line = engine->process().read_line(Millis(10'000));
        all_reloaded &= line && line->find("read again") != std::string::npos;
    }
    EXPECT_TRUE(eventually([&] { return with_second > 0; }));
    stop = true;
    for (std::thread& thread : load) thread.join();

    EXPECT_NE(failed.value_or("").find("the old ones stay in use"), std::string::npos)
        << failed.value_or("");
    EXPECT_TRUE(all_reloaded);
    EXPECT_EQ(answered, asked);
    EXPECT_GT(asked, 0);
    EXPECT_EQ(engine->stop(), 0);
}

TEST_F(Tls, AnEngineWithoutAUsablePairDoesNotStart) {
    const TestCertificate other = make_certificate(folder.path(), "other");
    std::filesystem::copy_file(other.key, certificate.key,
                               std::filesystem::copy_options::overwrite_existing);
    const auto refused = [&](const std::vector<std::string>& words, const std::string& reason) {
        const Ended ended = run_sluice(words);
        EXPECT_NE(ended.code, 0);
        EXPECT_NE((ended.output + ended.errors).find(reason), std::string::npos)
            << ended.output << ended.errors;
    };
    const std::string mismatch = "does not belong to certificate";
    refused({"serve", "--no-auth", "--store", "memory:", "--listen", "127.0.0.1:0", "--config",
             config()},
            mismatch);
    refused({"config", "check", "--config", config()}, mismatch);
    refused({"doctor", "--store", "memory:", "--config", config()}, mismatch);

    std::ofstream(config()) << "[tls]\nkey = \"" << certificate.key << "\"\n";
    refused({"config", "check", "--config", config()},
            "sluice.toml:2: tls.key: needs tls.certificate, too");
}

TEST_F(Tls, AnExpiredCertificateIsServedWithAWarning) {
    make_certificate(folder.path(), "server", "old",
                     {.begins = std::chrono::hours(-48), .ends = std::chrono::hours(-24)});
    const auto engine = start();

    const auto warning = engine->process().read_line(Millis(10'000));
    EXPECT_NE(warning.value_or("").find("has expired"), std::string::npos);
    EXPECT_EQ(TlsClient(engine->port()).server_name(), "old");
    const Ended checked = run_sluice({"config", "check", "--config", config()});
    EXPECT_EQ(checked.code, 0);
    EXPECT_NE(checked.errors.find("has expired"), std::string::npos);
}

}  // namespace tls_test
}  // namespace sluice::e2e
