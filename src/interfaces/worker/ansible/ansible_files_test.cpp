#include "interfaces/worker/ansible/ansible_files.hpp"

#include <gtest/gtest.h>

#include <string>

#include "interfaces/worker/ansible/ansible_output.hpp"
#include "tests/support/test_context.hpp"

namespace sluice::worker {
namespace ansible_files_test {

std::string variables(const std::string& payload) {
    client::Job job{.id = "j", .type = "t", .payload = payload, .attempt = 1};
    const auto text = ansible_variables(job);
    return text ? *text : text.error().pointer + " " + text.error().message;
}

TEST(AnsibleVariables, KeepTheBytesOfThePayload) {
    EXPECT_EQ(variables(R"({"a": 1.50, "b": [ true, null ], "c": {"d": "\u00e9 #"}})"),
              R"({"attempt":1,"job_id":"j","job_type":"t","a":1.50,"b":[true,null],)"
              R"("c":{"d":{"__ansible_unsafe":"\u00e9 #"}}})"
              "\n");
    EXPECT_EQ(variables("null"), "{\"attempt\":1,\"job_id\":\"j\",\"job_type\":\"t\"}\n");
    EXPECT_EQ(variables(""), variables("null"));
}

TEST(AnsibleVariables, MarkWhatAnsibleWouldEvaluate) {
    EXPECT_EQ(variables(R"({"a":"{{ b }}","c":["{% x %}","#jinja2: x"]})"),
              R"({"attempt":1,"job_id":"j","job_type":"t","a":{"__ansible_unsafe":"{{ b }}"},)"
              R"("c":[{"__ansible_unsafe":"{% x %}"},{"__ansible_unsafe":"#jinja2: x"}]})"
              "\n");
}

TEST(AnsibleVariables, LeaveIdsToTheJob) {
    EXPECT_EQ(variables(R"({"job_id":"x","site_id":"y","attempt":9})"), variables("{}"));
}

TEST(AnsibleVariables, RefuseNamesThatSteerAnsible) {
    EXPECT_EQ(variables(R"({"ansible_connection":"local"})"),
              "/ansible_connection is a name that Ansible uses");
    EXPECT_EQ(variables(R"({"hostvars":{}})"), "/hostvars is a name that Ansible uses");
    EXPECT_EQ(variables(R"({"a":[{"__ansible_vault":"x"}]})"),
              "/a/0/__ansible_vault is a name that Ansible uses");
    EXPECT_EQ(variables(R"({"a":{"{{ b }}":1}})"),
              "/a/{{ b }} has a name that Ansible would evaluate");
}

TEST(AnsibleVariables, RefuseAPayloadThatIsNoObject) {
    EXPECT_TRUE(variables("[1]").starts_with(" must be an object")) << variables("[1]");
    EXPECT_TRUE(variables("\"a\"").starts_with(" must be an object"));
}

TEST(AnsibleInventory, HoldsOneHostWhateverItsValues) {
    const AnsibleNode node{.hostname = "h \"a\"\nb: c",
                           .port = 2222,
                           .user = "u ansible_become=true",
                           .key_file = "/keys/a b"};
    EXPECT_EQ(ansible_inventory("n", node),
              R"({"all":{"hosts":{"n":{"ansible_host":"h \"a\"\nb: c","ansible_port":2222,)"
              R"("ansible_user":"u ansible_become=true",)"
              R"("ansible_ssh_private_key_file":"/keys/a b"}}}})"
              "\n");
    EXPECT_EQ(ansible_host_name("eu-1.web_2"), "eu-1.web_2");
    EXPECT_EQ(ansible_host_name("web[1:9]:22 a=b"), "web_1_9__22_a_b");
}

TEST(AnsibleOutput, KeepsTheLast10KilobytesFromAWholeCharacterOn) {
    test::TestContext context;
    AnsibleOutput output(context, "n");
    for (int i = 0; i < 5000; ++i) output.take({Stream::output, "é€é€é€é€é€", false});
    output.take({Stream::errors, "the end", false});

    const std::string end = output.ending();

    EXPECT_LE(end.size(), 10u * 1024);
    EXPECT_GT(end.size(), 10u * 1024 - 4);
    EXPECT_TRUE(end.ends_with("é\nthe end\n") || end.ends_with("€\nthe end\n"));
    EXPECT_NE(static_cast<unsigned char>(end.front()) & 0xC0, 0x80);
    EXPECT_EQ(context.lines().size(), 5001u);
}

TEST(AnsibleOutput, CountsOnlyWhatTheRecapSaysOfTheHost) {
    const auto result_of = [](std::string_view line) {
        test::TestContext context;
        AnsibleOutput output(context, "node-1");
        output.take({Stream::output, "node-1 : ok=9", false});
        output.take({Stream::output, "PLAY RECAP *****", false});
        output.take({Stream::output, line, false});
        return output.result();
    };

    EXPECT_EQ(result_of("node-1    : ok=4    changed=1   "), R"({"recap":{"ok":4,"changed":1}})");
    EXPECT_EQ(result_of("node-10   : ok=4    changed=1   "), "");
    EXPECT_EQ(result_of("node-1    : ok=4    \"x\"=1"), "");
    EXPECT_EQ(result_of("node-1    : all is well"), "");
}

}  // namespace ansible_files_test
}  // namespace sluice::worker
