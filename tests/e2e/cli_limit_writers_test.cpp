// What an operator meets at the command line of rules: contradictions, messages, histories, and
// what a change says that it did.
#include <gtest/gtest.h>

#include "e2e/guarded_engine.hpp"
#include "e2e/rule_commands.hpp"

namespace sluice::e2e {
namespace cli_limit_writers_test {

// An engine of its own: some of these rules are for all who use one.
class CliLimitWriters : public RuleCommands<OwnEngineCliTest> {
  protected:
    void expect_refused_with(const Ended& ended, int code, const std::string& message) const {
        EXPECT_EQ(ended.code, code) << ended.errors;
        EXPECT_TRUE(has(ended.errors, message)) << ended.errors;
    }
    void expect_said(const Ended& ended, const std::string& message) const {
        EXPECT_EQ(ended.code, 0) << ended.errors;
        EXPECT_TRUE(has(ended.errors, message)) << ended.errors;
    }
};

// ── which rule is meant ──

// A token of one tenant means that tenant when it names none.
TEST(CliLimitWritersOfOneTenant, SetTheirQuotaTwiceLookAtItAndLiftIt) {
    GuardedEngine engine;
    const std::string token = engine.token({{"name", "ada"},
                                            {"kind", "user"},
                                            {"tenant", "acme"},
                                            {"scopes", List{"orch:quota"}}});
    const auto cli = [&](Words words) {
        words.insert(words.end(), {"--server", "http://127.0.0.1:" + std::to_string(engine.port()),
                                   "--token", token});
        const Ended ended = run_sluice(words);
        EXPECT_EQ(ended.code, 0) << ended.errors;
        return ended.output;
    };
    const Words quota{"--type", "scan", "--reason", "a test"};
    const auto change = [&](Words words) {
        words.insert(words.end(), quota.begin(), quota.end());
        return cli(words);
    };
    expect_ok(engine.post(engine.admin(), "/api/v1/quotas",
                          {{"type", "scan"}, {"max_active", 9}, {"reason", "the default"}}),
              201);

    const std::string id = change({"quota", "set", "--max-active", "1"});
    EXPECT_EQ(change({"quota", "set", "--max-active", "2"}), id);
    EXPECT_EQ(text(parse(cli({"quota", "get", "--type", "scan", "--json"})), "tenant"), "acme");
    EXPECT_EQ(change({"quota", "lift"}), id);
}

TEST_F(CliLimitWriters, AQuotaIsForATenantOrForAProfile) {
    for (const char* action : {"set", "get", "pause", "resume", "lift"}) {
        Words words{"quota", action, "--tenant", "acme", "--profile", "gold"};
        if (action == std::string("set")) words.insert(words.end(), {"--max-active", "1"});
        const Ended ended = action == std::string("get") ? cli(words) : tried(words);
        expect_refused_with(ended, 2, "--profile and --tenant (or SLUICE_TENANT) contradict");
    }
    EXPECT_TRUE(list(api.get("/api/v1/quotas"), "quotas").empty());
}

TEST_F(CliLimitWriters, AQuotaThatIsNamedByItsIdHasNoOtherName) {
    const std::string id = changed({"quota", "set", "--profile", "gold", "--max-active", "2"});
    expect_refused_with(tried({"quota", "pause", id, "--profile", "silver"}), 2, "or the ID");
    expect_refused_with(tried({"quota", "lift", id, "--type", "scan"}), 2, "or the ID");
    EXPECT_EQ(cli({"quota", "get", "--profile", "gold", "-o", "name"}).output, id + "\n");
}

TEST_F(CliLimitWriters, TwoRulesOfANameAreTold) {
    const std::string first =
        changed({"limit", "add", "--name", "smtp", "--type", "mail.*", "--max-active", "1"});
    const std::string second =
        changed({"limit", "add", "--kind", "throttle", "--name", "smtp", "--paused"});
    for (const char* action : {"get", "lift"}) {
        const Ended ended = action == std::string("get") ? cli({"limit", action, "smtp"})
                                                         : tried({"limit", action, "smtp"});
        expect_refused_with(ended, 2, "\"smtp\" may be any of these 2 rules");
        expect_refused_with(ended, 2, first + "  limit smtp");
        expect_refused_with(ended, 2, second + "  throttle smtp");
    }
}

TEST_F(CliLimitWriters, WhereNoQuotaIsTheMessageSaysHowToPauseAnyway) {
    const Ended ended = tried({"quota", "pause", "--tenant", "mallory", "--type", "scan.*"});
    expect_refused_with(ended, 5,
                        "sluice limit add --kind throttle --tenant mallory --type 'scan.*' "
                        "--paused --reason TEXT");
    api.submit({{"tenant", "mallory"}, {"type", "scan.a"}});
    changed({"limit", "add", "--kind", "throttle", "--tenant", "mallory", "--type", "scan.*",
             "--paused"});
    EXPECT_TRUE(api.claim({{"tenant", "mallory"}}).empty());

    expect_refused_with(tried({"quota", "pause", "--profile", "gold"}), 5,
                        "sluice quota set --profile gold --paused --reason TEXT");
    const std::string id = changed({"quota", "set", "--profile", "gold", "--paused"});
    EXPECT_TRUE(flag(api.get("/api/v1/quotas/" + id), "paused"));
}

TEST_F(CliLimitWriters, RulesAreListedByTheirKind) {
    const std::string limit = changed({"limit", "add", "--type", "a", "--max-active", "1"});
    const std::string quota = changed({"quota", "set", "--tenant", "acme", "--max-active", "1"});
    EXPECT_EQ(cli({"limit", "list", "--kind", "limit", "-o", "name"}).output, limit + "\n");
    EXPECT_EQ(cli({"limit", "list", "--kind", "quota", "-o", "name"}).output, quota + "\n");
    EXPECT_EQ(cli({"limit", "list", "--kind", "block", "-o", "name"}).output, "");
    expect_refused_with(cli({"limit", "list", "--kind", "blok"}), 2, "block");
}

// ── two writers ──

TEST_F(CliLimitWriters, TheSecondOfTwoWritersIsRefused) {
    const std::string id = changed({"quota", "set", "--tenant", "acme", "--max-active", "1"});
    changed({"quota", "set", "--tenant", "acme", "--max-active", "2", "--if-revision", "1"});
    const std::vector<Words> late{{"quota", "set", "--tenant", "acme", "--max-active", "3"},
                                  {"quota", "pause", "--tenant", "acme"},
                                  {"quota", "resume", id},
                                  {"quota", "lift", id},
                                  {"limit", "lift", id}};
    for (Words words : late) {
        words.insert(words.end(), {"--if-revision", "1"});
        expect_refused_with(tried(words), 6, "somebody else has changed it meanwhile");
    }
    EXPECT_EQ(number(api.get("/api/v1/quotas/" + id), "max_active"), 2);
    changed({"limit", "add", "--name", "x", "--max-active", "1"});
    changed({"limit", "change", "x", "--max-active", "2"});
    expect_refused_with(tried({"limit", "change", "x", "--paused", "--if-revision", "1"}), 6,
                        "somebody else has changed it meanwhile");
    expect_refused_with(tried({"limit", "lift", "x", "--if-revision", "two"}), 2, "whole number");
}

TEST_F(CliLimitWriters, AWriteNamesTheRevisionThatWasRead) {
    const std::string id = changed({"quota", "set", "--tenant", "acme", "--max-active", "1"});
    for (Words words :
         {Words{"quota", "set", "--tenant", "acme", "--max-active", "2"},
          Words{"quota", "pause", id}, Words{"quota", "resume", id}, Words{"quota", "lift", id},
          Words{"limit", "change", id, "--paused"}, Words{"limit", "lift", id}}) {
        words.push_back("--curl");
        const Ended shown = tried(words);
        EXPECT_TRUE(has(shown.output, "-H 'If-Match: \"1\"'")) << shown.output << shown.errors;
    }
}

// ── what a change says ──

TEST_F(CliLimitWriters, MaintenanceTellsWhetherJobsAreTaken) {
    const Words start{"maintenance", "start", "--refuse-submits", "--until", "30m"};
    Words try_first = start;
    try_first.push_back("--dry-run");
    expect_said(tried(try_first), "submits would be refused");
    expect_said(tried(start), "submits are refused");
    EXPECT_FALSE(has(tried(start).errors, "changes nothing"));
    for (const char* format : {"table", "wide", "plain"}) {
        EXPECT_TRUE(has(cli({"maintenance", "show", "-o", format}).output, "refused")) << format;
    }
    expect_refused_with(cli({"run", "task"}), 10, "try again then, in 29m");

    expect_said(tried({"maintenance", "start"}), "submits are refused");
    expect_said(tried({"maintenance", "start", "--take-submits"}), "submits are taken");
    changed({"maintenance", "end"});
    expect_said(tried({"maintenance", "start"}),
                "no job starts from now on; what runs goes on, and submits are taken");
    EXPECT_TRUE(has(cli({"maintenance", "show", "-o", "table"}).output, "taken"));
}

TEST_F(CliLimitWriters, AChangeWithoutEffectSaysWhatItCovers) {
    submit_some(api, 3);
    changed({"limit", "add", "--name", "first", "--paused"});
    expect_said(tried({"limit", "add", "--name", "second", "--paused", "--dry-run"}),
                "it would hold back no job that waits now, and let none go; waiting jobs that it "
                "covers: 3");
}

TEST_F(CliLimitWriters, ABlockTellsHowManyJobsItCancels) {
    submit_some(api, 3, {{"tenant", "mallory"}});
    ASSERT_EQ(api.claim({{"tenant", "mallory"}, {"limit", 2}}).size(), 2u);
    const Words block{"tenant", "block", "mallory", "--cancel-running"};
    Words try_first = block;
    try_first.push_back("--dry-run");
    expect_said(tried(try_first), "it would cancel 2 running jobs");
    expect_said(tried(block), "2 running jobs canceled");
    expect_said(tried(block), "0 running jobs canceled");
    EXPECT_FALSE(has(tried({"tenant", "block", "trudy"}).errors, "canceled"));
}

TEST_F(CliLimitWriters, RefusalsNameFlags) {
    const std::vector<std::pair<Words, std::string>> cases{
        {{"limit", "add", "--type", "a"}, "give --max-active, --rate, or --paused"},
        {{"limit", "add", "--max-active", "0"}, "--max-active: must be at least 1"},
        {{"limit", "add", "--max-active", "0"}, "pause instead: --paused"},
        {{"limit", "add", "--rate", "0/s"}, "--rate: the number must be at least 1"},
        {{"limit", "add", "--rate", "1/1ms"}, "--rate: the time, in milliseconds, must be"},
        {{"limit", "add", "--rate", "5/s", "--burst", "0"}, "--burst: must be at least 1"},
        {{"quota", "set", "--max-per-hour", "0"}, "--max-per-hour: must be at least 1"},
        {{"quota", "set", "--burst", "3", "--max-active", "1"}, "--burst: needs --max-per-hour"},
        {{"quota", "set", "--tenant", "a*", "--max-active", "1"}, "--tenant: of a quota is one"},
    };
    for (const auto& [words, message] : cases) expect_refused_with(tried(words), 2, message);

    const std::string quota = changed({"quota", "set", "--tenant", "acme", "--max-active", "1"});
    expect_refused_with(tried({"limit", "change", quota, "--max-active", "2"}), 6,
                        "sluice quota set");
}

TEST_F(CliLimitWriters, NamesMayHaveSlashes) {
    api.submit({{"source", "ci/build"}, {"tenant", "a/b"}});
    changed({"source", "pause", "ci/build"});
    EXPECT_TRUE(api.claim({{"tenant", "a/b"}}).empty());
    expect_said(tried({"source", "resume", "ci/build"}), "");
    changed({"tenant", "block", "a/b"});
    EXPECT_TRUE(api.claim({{"tenant", "a/b"}}).empty());
    changed({"tenant", "unblock", "a/b"});
    EXPECT_EQ(api.claim({{"tenant", "a/b"}}).size(), 1u);
    expect_refused_with(tried({"source", "pause", "ci/*"}), 2, "sluice: source:");
}

TEST_F(CliLimitWriters, ALeaseIsReleasedWithATicketAndTriedFirst) {
    const std::string id = api.submit_id({{"max_attempts", 3}});
    api.claim_one();
    const Words release{"job", "release-lease", id, "--ticket", "OPS-9"};
    Words try_first = release;
    try_first.push_back("--dry-run");
    expect_said(tried(try_first),
                "which would be queued then; the attempt would count, and 2 "
                "attempts are left");
    EXPECT_EQ(api.state(id), "running");
    expect_said(tried(release), "released the lease of " + id + ", which is queued now");
    EXPECT_EQ(api.state(id), "queued");
    EXPECT_TRUE(has(cli({"job", "events", id, "--json"}).output, "OPS-9"));
}

// ── lifted rules and the history ──

TEST_F(CliLimitWriters, OfALiftedRuleTheMessageSaysSo) {
    const std::string id =
        changed({"limit", "add", "--name", "smtp", "--type", "mail.*", "--max-active", "1"});
    changed({"limit", "lift", id});
    for (const std::string& word : {id, id.substr(0, 20), std::string("smtp")}) {
        for (const Ended& ended :
             {cli({"limit", "get", word}), tried({"limit", "change", word, "--max-active", "2"})}) {
            expect_refused_with(ended, 5, "limit smtp was lifted at 20");
            expect_refused_with(ended, 5, "by anonymous: a test");
            expect_refused_with(ended, 5, "sluice limit history --rule " + id);
        }
    }
    const Ended unknown = cli({"limit", "get", "65f000000000000000000000"});
    EXPECT_EQ(unknown.code, 5);
    EXPECT_FALSE(has(unknown.errors, "lifted")) << unknown.errors;
}

TEST_F(CliLimitWriters, TheHistoryTellsWhoDidWhatToWhichRule) {
    const std::string other = changed({"limit", "add", "--type", "b", "--max-active", "1"});
    const std::string id =
        changed({"quota", "set", "--tenant", "acme", "--type", "scan", "--max-active", "8"});
    changed({"quota", "set", "--tenant", "acme", "--type", "scan", "--max-active", "16", "--ticket",
             "OPS-12"});
    changed({"quota", "pause", "--tenant", "acme", "--type", "scan"});
    changed({"quota", "resume", "--tenant", "acme", "--type", "scan"});
    changed({"quota", "lift", "--tenant", "acme", "--type", "scan"});

    const auto fields = lines_of(
        cli({"limit", "history", "--rule", id, "--fields", "actor,what,rule,change,reason,ticket"})
            .output);
    const std::string rule = "\tquota for tenant acme, type scan\t";
    EXPECT_EQ(fields, (std::vector<std::string>{
                          "actor\twhat\trule\tchange\treason\tticket",
                          "anonymous\tadded" + rule + "max_active 8\ta test\t",
                          "anonymous\tchanged" + rule + "max_active 8 -> 16\ta test\tOPS-12",
                          "anonymous\tpaused" + rule + "\ta test\t",
                          "anonymous\tresumed" + rule + "\ta test\t",
                          "anonymous\tlifted" + rule + "\ta test\t"}));
    const auto table = lines_of(cli({"limit", "history", "-o", "table"}).output);
    ASSERT_EQ(table.size(), 8u) << "the first event is the beginning of the history";
    for (const char* part : {"AT", "BY", "WHAT", "RULE", "CHANGE", "REASON", "TICKET"}) {
        EXPECT_TRUE(has(table[0], part)) << table[0];
    }
    EXPECT_TRUE(has(table[2], "limit for type b")) << table[2];
    EXPECT_TRUE(has(table[2], other)) << table[2];
    EXPECT_TRUE(has(table[4], "max_active 8 -> 16")) << table[4];
    EXPECT_TRUE(lines_of(cli({"limit", "history"}).output)[0].starts_with(
        "seq\tat\tactor\taction\tsubject\treason\tticket\tdetail"));
}

// ── rights ──

TEST(CliLimitRights, ATokenForQuotasAloneIsEnough) {
    GuardedEngine engine;
    const std::string token =
        engine.token({{"name", "ada"}, {"kind", "user"}, {"scopes", List{"orch:quota"}}});
    const auto cli = [&](Words words) {
        words.insert(words.end(), {"--server", "http://127.0.0.1:" + std::to_string(engine.port()),
                                   "--token", token});
        return run_sluice(words);
    };
    const Words quota{"--tenant", "default", "--reason", "a test"};
    for (Words words : {Words{"quota", "set", "--max-active", "8"}, Words{"quota", "pause"},
                        Words{"quota", "resume"}, Words{"quota", "lift"}}) {
        words.insert(words.end(), quota.begin(), quota.end());
        const Ended ended = cli(words);
        EXPECT_EQ(ended.code, 0) << words[1] << ended.errors;
    }
    for (const Words& words :
         {Words{"limit", "add", "--name", "x", "--max-active", "8"},
          Words{"limit", "change", "x", "--max-active", "9"}, Words{"limit", "lift", "x"}}) {
        Words all = words;
        all.insert(all.end(), {"--reason", "a test"});
        const Ended ended = cli(all);
        EXPECT_EQ(ended.code, 0) << words[1] << ended.errors;
    }
    EXPECT_EQ(cli({"run", "task"}).code, 4) << "it may not submit";
}

}  // namespace cli_limit_writers_test
}  // namespace sluice::e2e
