// Jobs on nodes run by Ansible, from the node's record to the site's state.
#include "conformance/sites.hpp"

namespace sluice::e2e {
namespace sites_ansible_test {

class SitesAnsible : public SitesTest {
  protected:
    // A program instead of ansible-playbook that prints the code in the payload and ends with it.
    std::string program_that_ends_as_told() {
        return file("playbook.sh",
                    "#!/bin/sh\n"
                    "code=$(sed 's/.*\"code\":\\([0-9]*\\).*/\\1/' \"${4#@}\")\n"
                    "echo \"ended with $code\"\nexit $code\n",
                    true);
    }
    static std::string ansible(const std::string& type, const std::string& more) {
        return "[job_types." + type + ".executor]\nkind = \"ansible\"\n" + more + "\n";
    }
    void put_node(const std::string& id) {
        expect_ok(post("/api/v1/nodes",
                       {{"id", id},
                        {"attributes", {{"hostname", "127.0.0.1"}, {"connection", "local"}}}}),
                  201);
    }
    Json wait_for(const std::string& id, const std::string& state) {
        EXPECT_TRUE(eventually([&] { return api().state(id) == state; }, Millis(30'000)))
            << boost::json::serialize(api().job(id));
        return api().job(id);
    }
};

TEST_F(SitesAnsible, ADeployIsAPlaybookOnTheNodeOfItsRecord) {
    const std::string playbook = file("deploy.yml",
                                      "- hosts: all\n  gather_facts: false\n  tasks:\n"
                                      "    - debug: {msg: \"{{ site_id }} gets {{ version }}\"}\n");
    serve(ansible("env_deploy", "playbook = \"" + playbook + "\""));
    put_node("here");

    const std::string id = api().submit_id(
        on_site("env_deploy", "shop", {{"node_id", "here"}, {"payload", {{"version", "1.2"}}}}));

    wait_for(id, "succeeded");
    EXPECT_EQ(site_state("shop"), "active");
    std::string log;
    for (const Json& line : api().logs(id)) log += text(line, "message") + "\n";
    EXPECT_NE(log.find("shop gets 1.2"), std::string::npos) << log;
}

TEST_F(SitesAnsible, ANodeWithoutARecordIsAnErrorThatIsNotRetried) {
    serve(ansible("env_deploy",
                  "playbook = \"x.yml\"\nprogram = \"" + program_that_ends_as_told() + "\""));
    put_node("off");
    expect_ok(post("/api/v1/entities/node/off", {{"action", "disable"}}));

    for (const char* node : {"nowhere", "off"}) {
        const std::string site = fresh_name("site");
        const std::string id = api().submit_id(on_site("env_deploy", site, {{"node_id", node}}));
        const Json job = wait_for(id, "failed");
        EXPECT_EQ(text(job, "error_code"), "NODE_UNKNOWN");
        EXPECT_EQ(number(job, "attempt"), 1);
        EXPECT_EQ(site_state(site), "failed");
    }
}

TEST_F(SitesAnsible, ExitCodesDecideWhetherAJobIsRetried) {
    struct Meaning {
        int exit;
        const char* error_code;
        const char* state;
    };
    const Meaning meanings[] = {
        {0, "", "succeeded"},
        {1, "ANSIBLE_PLAY_ERROR", "queued"},
        {2, "ANSIBLE_HOST_FAILED", "queued"},
        {4, "ANSIBLE_HOST_UNREACHABLE", "queued"},
        {5, "ANSIBLE_SYNTAX_ERROR", "failed"},
        {250, "ANSIBLE_UNEXPECTED_ERROR", "failed"},
        {99, "ANSIBLE_UNKNOWN_EXIT", "failed"},
    };
    serve(ansible("env_deploy",
                  "playbook = \"x.yml\"\nprogram = \"" + program_that_ends_as_told() + "\""));
    put_node("here");

    for (const Meaning& meaning : meanings) {
        const std::string site = "site-" + std::to_string(meaning.exit);
        const std::string id = api().submit_id(on_site(
            "env_deploy", site, {{"node_id", "here"}, {"payload", {{"code", meaning.exit}}}}));
        ASSERT_TRUE(eventually([&] { return number(api().job(id), "attempt") == 1; }));
        const Json job = wait_for(id, meaning.state);
        EXPECT_EQ(text(job, "error_code"), meaning.error_code) << meaning.exit;
        if (meaning.exit != 0) {
            EXPECT_NE(text(job, "error_message").find("ended with"), std::string::npos);
        }
        const std::string expected = meaning.exit == 0                             ? "active"
                                     : std::string_view(meaning.state) == "failed" ? "failed"
                                                                                   : "deploying";
        EXPECT_EQ(site_state(site), expected) << meaning.exit;
    }
}

TEST_F(SitesAnsible, ARunThatIsEndedAtItsOwnLimitIsRetried) {
    const std::string program = file("slow.sh", "#!/bin/sh\nexec sleep 60\n", true);
    serve(ansible("env_deploy",
                  "playbook = \"x.yml\"\ntimeout = \"200ms\"\nprogram = \"" + program + "\""));
    put_node("here");

    const std::string id = api().submit_id(on_site("env_deploy", "shop", {{"node_id", "here"}}));

    ASSERT_TRUE(eventually([&] { return !is_null(api().job(id), "error_code"); }));
    const Json job = wait_for(id, "queued");
    EXPECT_EQ(text(job, "error_code"), "ANSIBLE_TIMEOUT");
    EXPECT_EQ(site_state("shop"), "deploying");
}

TEST_F(SitesAnsible, TheJobsOwnDeadlineEndsTheRunForGood) {
    const std::string program = file("slow.sh", "#!/bin/sh\nexec sleep 60\n", true);
    serve(ansible("env_deploy", "playbook = \"x.yml\"\nprogram = \"" + program + "\""));
    put_node("here");

    const std::string id =
        api().submit_id(on_site("env_deploy", "shop", {{"node_id", "here"}, {"timeout_ms", 500}}));

    EXPECT_EQ(text(wait_for(id, "timed_out"), "error_code"), "JOB_TIMEOUT");
    EXPECT_EQ(site_state("shop"), "failed");
}

}  // namespace sites_ansible_test
}  // namespace sluice::e2e
