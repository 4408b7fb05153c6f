// `sluice quota|source|maintenance|tenant`, and what the command line says of jobs that wait.
#include <gtest/gtest.h>

#include "e2e/rule_commands.hpp"

namespace sluice::e2e {
namespace cli_quotas_test {

// An engine of its own: maintenance is for all who use one.
class CliQuotas : public RuleCommands<OwnEngineCliTest> {
  protected:
    // Expects that the change is only told, and that the rules stay as they are.
    void expect_only_told(Words words, const std::string& effect) {
        const List before = list(api.get("/api/v1/limits"), "limits");
        words.push_back("--dry-run");
        const Ended ended = tried(words);
        EXPECT_EQ(ended.code, 0) << ended.errors;
        EXPECT_EQ(ended.output, "") << words[1];
        EXPECT_TRUE(has(ended.errors, "it would " + effect)) << ended.errors;
        EXPECT_EQ(list(api.get("/api/v1/limits"), "limits"), before) << words[1];
    }
    std::size_t claimed(const std::string& tenant, int limit = 10) {
        return api.claim({{"tenant", tenant}, {"limit", limit}}).size();
    }
    std::string explained(const std::string& job) const {
        const Ended ended = cli({"job", "explain", job});
        EXPECT_EQ(ended.code, 0) << ended.errors;
        return ended.output;
    }
    void expect_explained(const std::string& job, const std::string& code,
                          const std::string& verdict) const {
        const std::string said = explained(job);
        EXPECT_TRUE(has(said, "  1 " + code + " ")) << said;
        EXPECT_TRUE(has(said, verdict)) << said;
    }
    // The line of job get on a pipe.
    std::string next_eligible(const std::string& job) const {
        const std::string line = cli({"job", "get", job, "--fields", "next_eligible_at"}).output;
        EXPECT_TRUE(line.starts_with("next_eligible_at\t")) << line;
        return line.substr(17, line.size() - 18);
    }
};

// ── quotas ──

TEST_F(CliQuotas, ASetQuotaBoundsItsTenantAndIsShown) {
    const std::string id = changed({"quota", "set", "--tenant", "acme", "--type", "scan",
                                    "--max-active", "2", "--max-per-hour", "600"});
    submit_some(api, 5, {{"tenant", "acme"}, {"type", "scan"}});
    submit_some(api, 3, {{"tenant", "zeta"}, {"type", "scan"}});

    EXPECT_EQ(claimed("acme"), 2u);
    EXPECT_EQ(claimed("zeta"), 3u);
    const auto lines = lines_of(cli({"quota", "list", "-o", "table"}).output);
    ASSERT_EQ(lines.size(), 2u);
    for (const char* header : {"ACTIVE", "STARTS", "WAITING", "CLOSED"}) {
        EXPECT_TRUE(has(lines[0], header)) << lines[0];
    }
    EXPECT_TRUE(lines[1].starts_with(id + "  quota  tenant acme, type scan  2/2")) << lines[1];
    EXPECT_EQ(cli({"quota", "list", "--fields", "use,starts,held,closed"}).output,
              "use\tstarts\theld\tclosed\n2/2\t2/600 in an hour\t3\tfull\n");
    EXPECT_TRUE(has(cli({"quota", "get", id}).output, "\nmax_per_hour\t600\n"));
    EXPECT_EQ(cli({"quota", "get", "--tenant", "acme", "--type", "scan", "-o", "name"}).output,
              id + "\n");
    EXPECT_EQ(list(parse(cli({"quota", "list", "--json"}).output), "quotas").size(), 1u);
    EXPECT_EQ(lines_of(cli({"quota", "list", "--tenant", "zeta"}).output).size(), 1u);
}

TEST_F(CliQuotas, SetChangesTheOneThatIsThere) {
    const std::string id =
        changed({"quota", "set", "--tenant", "acme", "--max-active", "1", "--max-per-hour", "600"});
    submit_some(api, 5, {{"tenant", "acme"}});
    EXPECT_EQ(claimed("acme"), 1u);

    const Ended raised = tried({"quota", "set", "--tenant", "acme", "--max-active", "9"});

    EXPECT_EQ(raised.output, id + "\n");
    EXPECT_TRUE(has(raised.errors, "it lets 4 jobs go")) << raised.errors;
    EXPECT_EQ(claimed("acme"), 4u);
    const Json quota = api.get("/api/v1/quotas/" + id);
    EXPECT_EQ(number(quota, "max_per_hour"), 600);
    EXPECT_EQ(number(quota, "revision"), 2);
    const std::string narrow =
        changed({"quota", "set", "--tenant", "acme", "--type", "scan", "--max-active", "1"});
    EXPECT_NE(narrow, id);
}

TEST_F(CliQuotas, AQuotaIsPausedResumedAndLifted) {
    changed({"quota", "set", "--tenant", "acme", "--max-active", "1"});
    submit_some(api, 3, {{"tenant", "acme"}});

    changed({"quota", "pause", "--tenant", "acme"});
    EXPECT_EQ(claimed("acme"), 0u);
    EXPECT_EQ(cli({"quota", "list", "--fields", "max_active,closed"}).output,
              "max_active\tclosed\n1\tpaused\n");
    changed({"quota", "resume", "--tenant", "acme"});
    EXPECT_EQ(claimed("acme"), 1u);
    changed({"quota", "lift", "--tenant", "acme"});
    EXPECT_EQ(claimed("acme"), 2u);
    EXPECT_EQ(cli({"quota", "get", "--tenant", "acme"}).code, 5);
}

TEST_F(CliQuotas, AProfileIsGivenToTenantsAndTakenAway) {
    const Ended given = tried({"quota", "profile", "set", "gold", "acme", "globex"});
    EXPECT_EQ(given.code, 0) << given.errors;
    changed({"quota", "set", "--profile", "gold", "--max-active", "2"});
    changed({"quota", "set", "--max-active", "1"});
    for (const char* tenant : {"acme", "globex", "zeta"}) {
        submit_some(api, 4, {{"tenant", tenant}});
    }

    EXPECT_EQ(claimed("acme"), 2u);
    EXPECT_EQ(claimed("globex"), 2u);
    EXPECT_EQ(claimed("zeta"), 1u) << "the default";
    EXPECT_EQ(cli({"quota", "profile", "list"}).output, "name\ttenants\ngold\tacme,globex\n");
    EXPECT_EQ(parse(cli({"quota", "profile", "list", "--json"}).output),
              api.get("/api/v1/quotas/profiles"));
    EXPECT_TRUE(has(cli({"quota", "get", "--profile", "gold", "-o", "table"}).output,
                    "profile gold, each tenant"));
    EXPECT_EQ(tried({"quota", "profile", "set", "gold", "zeta"}).code, 0);
    EXPECT_EQ(claimed("zeta"), 1u);
    EXPECT_EQ(tried({"quota", "profile", "set", "gold", "none"}).code, 0);
    EXPECT_EQ(cli({"quota", "profile", "list"}).output, "name\ttenants\n");
}

// ── sources ──

TEST_F(CliQuotas, ASourceIsListedPausedAndResumed) {
    submit_some(api, 3, {{"source", "nightly"}, {"max_attempts", 1}});
    expect_ok(api.fail(api.claim_one()));
    api.submit();

    const Ended paused =
        tried({"source", "pause", "nightly", "--until", "2h", "--ticket", "OPS-7"});

    EXPECT_TRUE(has(paused.errors, "it holds back 2 jobs that wait now")) << paused.errors;
    EXPECT_EQ(api.claim({{"limit", 9}}).size(), 1u);
    EXPECT_EQ(
        cli({"source", "list", "--fields",
             "source,queued,active,submitted_24h,failed_24h,failure_rate,paused,reason,ticket"})
            .output,
        "source\tqueued\tactive\tsubmitted_24h\tfailed_24h\tfailure_rate\tpaused\treason\t"
        "ticket\nnightly\t2\t0\t3\t1\t1.000\ttrue\ta test\tOPS-7\n");
    const auto lines = lines_of(cli({"source", "list", "-o", "table"}).output);
    EXPECT_TRUE(lines[0].starts_with("SOURCE") && has(lines[0], "QUEUED")) << lines[0];
    EXPECT_TRUE(lines[1].starts_with("nightly") && has(lines[1], "in 1")) << lines[1];
    EXPECT_EQ(parse(cli({"source", "list", "--json"}).output), api.get("/api/v1/sources"));
    EXPECT_EQ(tried({"source", "resume", "nightly"}).output, paused.output);
    EXPECT_EQ(api.claim({{"limit", 9}}).size(), 2u);
    EXPECT_EQ(tried({"source", "resume", "nightly"}).code, 5) << "it is not paused";
}

TEST_F(CliQuotas, JobsAreSubmittedFromASourceAndListedByIt) {
    const std::string id = cli({"run", "task", "--source", "nightly"}).output.substr(0, 24);
    api.submit({{"source", "hand"}});
    api.submit();

    EXPECT_EQ(cli({"job", "list", "--source", "nightly", "-o", "name"}).output, id + "\n");
    EXPECT_EQ(cli({"job", "get", id, "--fields", "source"}).output, "source\tnightly\n");
    EXPECT_TRUE(has(cli({"job", "list", "-o", "wide"}).output, "SOURCE"));
}

// ── maintenance and blocked tenants ──

TEST_F(CliQuotas, MaintenanceStartsIsShownAndEnds) {
    submit_some(api, 2);
    EXPECT_EQ(lines_of(cli({"maintenance", "show"}).output).size(), 1u);

    const Ended started = tried({"maintenance", "start", "--until", "30m", "--ticket", "OPS-10"});

    EXPECT_TRUE(has(started.errors, "it holds back 2 jobs that wait now")) << started.errors;
    EXPECT_TRUE(api.claim().empty());
    EXPECT_EQ(cli({"maintenance", "show", "--fields", "kind,covers,held,closed,ticket"}).output,
              "kind\tcovers\theld\tclosed\tticket\nmaintenance\tall jobs\t2\tpaused\tOPS-10\n");
    EXPECT_EQ(list(parse(cli({"maintenance", "show", "--json"}).output), "maintenance").size(), 1u);
    EXPECT_EQ(cli({"run", "task"}).code, 0) << "it is taken, and waits";
    changed({"maintenance", "start", "--refuse-submits"});
    const Ended refused = cli({"run", "task"});
    EXPECT_EQ(refused.code, 10);
    EXPECT_TRUE(has(refused.errors, "a test")) << refused.errors;
    const Ended ended = tried({"maintenance", "end"});
    EXPECT_EQ(ended.output, started.output);
    EXPECT_TRUE(has(ended.errors, "it lets 3 jobs go")) << ended.errors;
    EXPECT_EQ(api.claim({{"limit", 9}}).size(), 3u);
    EXPECT_EQ(tried({"maintenance", "end"}).code, 5) << "there is none";
}

TEST_F(CliQuotas, WhetherSubmitsAreTakenIsAColumnOfMaintenanceOnly) {
    changed({"maintenance", "start"});
    const auto headers = [&](Words words) {
        words.insert(words.end(), {"-o", "plain"});
        return lines_of(cli(words).output).at(0);
    };

    EXPECT_TRUE(headers({"maintenance", "show"}).ends_with("\tticket\tsubmits"));
    EXPECT_TRUE(headers({"limit", "list"}).ends_with("\tticket"));
}

TEST_F(CliQuotas, MaintenanceOfATenantLeavesOthersAlone) {
    changed({"maintenance", "start", "--tenant", "acme"});
    api.submit({{"tenant", "acme"}});
    api.submit();

    EXPECT_EQ(claimed("acme"), 0u);
    EXPECT_EQ(api.claim().size(), 1u);
    EXPECT_EQ(tried({"maintenance", "end"}).code, 5) << "of the engine there is none";
    changed({"maintenance", "end", "--tenant", "acme"});
    EXPECT_EQ(claimed("acme"), 1u);
}

TEST_F(CliQuotas, ATenantIsBlockedListedAndUnblocked) {
    submit_some(api, 3, {{"tenant", "mallory"}});
    EXPECT_EQ(claimed("mallory", 2), 2u);

    const std::string id = changed({"tenant", "block", "mallory", "--cancel-running"});

    EXPECT_EQ(claimed("mallory"), 0u);
    EXPECT_EQ(
        lines_of(
            cli({"job", "list", "--tenant", "mallory", "--state", "canceled", "-o", "name"}).output)
            .size(),
        2u);
    const Ended refused = cli({"run", "task", "--tenant", "mallory"});
    EXPECT_EQ(refused.code, 4);
    EXPECT_TRUE(has(refused.errors, "tenant mallory is blocked by anonymous: a test"))
        << refused.errors;
    EXPECT_EQ(cli({"tenant", "list", "--fields", "id,tenant,held"}).output,
              "id\ttenant\theld\n" + id + "\tmallory\t1\n");
    EXPECT_EQ(list(parse(cli({"tenant", "list", "--json"}).output), "tenants").size(), 1u);
    EXPECT_EQ(changed({"tenant", "unblock", "mallory"}), id);
    EXPECT_EQ(claimed("mallory"), 1u);
    EXPECT_EQ(lines_of(cli({"tenant", "list"}).output).size(), 1u);
    EXPECT_EQ(tried({"tenant", "unblock", "mallory"}).code, 5);
}

// ── changes that are only tried, and those that are refused ──

TEST_F(CliQuotas, ADryRunChangesNothingAndSaysWhatWouldBe) {
    submit_some(api, 3, {{"tenant", "acme"}, {"source", "nightly"}});
    expect_only_told({"quota", "set", "--tenant", "acme", "--max-active", "9"}, "");
    const std::string quota = changed({"quota", "set", "--tenant", "acme", "--max-active", "9"});
    expect_only_told({"quota", "pause", quota}, "hold back 3 jobs");
    expect_only_told({"source", "pause", "nightly"}, "hold back 3 jobs");
    expect_only_told({"maintenance", "start"}, "hold back 3 jobs");
    expect_only_told({"tenant", "block", "acme", "--cancel-running"}, "hold back 3 jobs");
    expect_only_told({"quota", "profile", "set", "gold", "acme"}, "");
    EXPECT_EQ(cli({"quota", "profile", "list"}).output, "name\ttenants\n");

    changed({"quota", "pause", quota});
    expect_only_told({"quota", "resume", quota}, "let 3 jobs go");
    expect_only_told({"quota", "lift", quota}, "let 3 jobs go");
    changed({"quota", "resume", quota});
    changed({"source", "pause", "nightly"});
    expect_only_told({"source", "resume", "nightly"}, "let 3 jobs go");
    changed({"source", "resume", "nightly"});
    changed({"maintenance", "start"});
    expect_only_told({"maintenance", "end"}, "let 3 jobs go");
    changed({"maintenance", "end"});
    changed({"tenant", "block", "acme"});
    expect_only_told({"tenant", "unblock", "acme"}, "let 3 jobs go");
    EXPECT_EQ(claimed("acme"), 0u);
}

TEST_F(CliQuotas, AChangeNeedsAReason) {
    for (const Words& words :
         {Words{"quota", "set", "--max-active", "1"}, Words{"quota", "pause", "--tenant", "a"},
          Words{"quota", "resume", "--tenant", "a"}, Words{"quota", "lift", "--tenant", "a"},
          Words{"quota", "profile", "set", "gold", "a"}, Words{"source", "pause", "nightly"},
          Words{"source", "resume", "nightly"}, Words{"maintenance", "start"},
          Words{"maintenance", "end"}, Words{"tenant", "block", "a"},
          Words{"tenant", "unblock", "a"}}) {
        const Ended ended = cli(words);
        EXPECT_EQ(ended.code, 2) << words[0] << words[1];
        EXPECT_TRUE(has(ended.errors, "--reason is required")) << ended.errors;
    }
    EXPECT_TRUE(list(api.get("/api/v1/limits"), "limits").empty());
}

TEST_F(CliQuotas, AnUnknownQuotaIsNotFound) {
    changed({"quota", "set", "--tenant", "acme", "--type", "scan", "--max-active", "1"});
    for (const char* verb : {"get", "pause", "resume", "lift"}) {
        for (const Words& choice : {Words{"65f000000000000000000000"}, Words{"--tenant", "acme"},
                                    Words{"--profile", "gold"}}) {
            Words words{"quota", verb};
            words.insert(words.end(), choice.begin(), choice.end());
            const Ended ended = verb == std::string("get") ? cli(words) : tried(words);
            EXPECT_EQ(ended.code, 5) << verb << choice[0] << ended.errors;
        }
    }
    const std::string rule = changed({"limit", "add", "--max-active", "9"});
    EXPECT_EQ(tried({"quota", "lift", rule}).code, 5) << "it is no quota";
}

// ── what is said of jobs that are held back ──

TEST_F(CliQuotas, ExplainSaysWhichQuotaIsFullAndWhatOpensIt) {
    const std::string id =
        changed({"quota", "set", "--tenant", "acme", "--max-active", "1", "--ticket", "OPS-12"});
    api.submit({{"tenant", "acme"}});
    const Json lease = api.claim_one({{"tenant", "acme"}});
    const std::string job = api.submit_id({{"tenant", "acme"}});

    expect_explained(job, "quota",
                     "1 of 1 active for tenant acme (quota by anonymous, ticket OPS-12: a test); "
                     "opens when one of them ends");
    EXPECT_TRUE(has(explained(job), "next: sluice limit get " + id + "\n"));
    EXPECT_EQ(next_eligible(job), "") << "only the end of the other opens it";
    EXPECT_FALSE(has(cli({"job", "get", job, "-o", "table"}).output, "limited until"));
    expect_ok(api.succeed(lease));
    EXPECT_FALSE(has(explained(job), "quota"));
}

TEST_F(CliQuotas, ExplainSaysWhenARateOpens) {
    changed({"limit", "add", "--name", "relay", "--type", "mail.*", "--rate", "1/h"});
    api.submit({{"type", "mail.a"}});
    api.claim_one();
    const std::string job = api.submit_id({{"type", "mail.b"}});

    const std::string at = next_eligible(job);

    EXPECT_EQ(at.size(), later_by(Millis(0)).size()) << at;
    expect_explained(job, "rate_limit", "used up");
    expect_explained(job, "rate_limit", "for type mail.*");
    expect_explained(job, "rate_limit", "(limit \"relay\" by anonymous: a test); opens at " + at);
}

TEST_F(CliQuotas, ExplainSaysWhoPausedAndUntilWhen) {
    changed(
        {"limit", "add", "--kind", "throttle", "--source", "nightly", "--paused", "--until", "2h"});
    const std::string job = api.submit_id({{"source", "nightly"}});

    const std::string at = next_eligible(job);

    expect_explained(job, "paused",
                     "source nightly is paused (throttle by anonymous, until " + at +
                         ": a test); opens at " + at);
    EXPECT_TRUE(has(cli({"job", "get", job, "-o", "table"}).output, "limited until"));
    EXPECT_EQ(cli({"job", "list", "--fields", "id,next_eligible_at"}).output,
              "id\tnext_eligible_at\n" + job + "\t" + at + "\n");
    EXPECT_TRUE(has(cli({"job", "list", "-o", "wide"}).output, "ELIGIBLE"));
}

TEST_F(CliQuotas, ExplainSaysThatThereIsMaintenanceOrABlock) {
    const std::string job = api.submit_id({{"tenant", "mallory"}});
    changed({"maintenance", "start"});
    expect_explained(
        job, "maintenance",
        "all jobs are paused (maintenance by anonymous: a test); opens when it is lifted");
    EXPECT_EQ(next_eligible(job), "");
    changed({"maintenance", "end"});
    changed({"tenant", "block", "mallory", "--ticket", "SEC-3"});
    expect_explained(job, "tenant_blocked",
                     "tenant mallory is blocked (block by anonymous, ticket SEC-3: a test); opens "
                     "when it is lifted");
    changed({"tenant", "unblock", "mallory"});
    EXPECT_FALSE(has(explained(job), "blocked"));
}

TEST_F(CliQuotas, CanStartSaysWhetherAJobThatIsNotThereWould) {
    const Words words{"limit", "can-start", "--type", "task"};
    const std::string id =
        changed({"limit", "add", "--source", "nightly", "--paused", "--until", "2h"});
    const Ended open = cli(words);
    EXPECT_EQ(open.code, 0);
    EXPECT_EQ(open.output, "yes\n");

    Words nightly = words;
    nightly.insert(nightly.end(), {"--source", "nightly"});
    const Ended closed = cli(nightly);

    EXPECT_EQ(closed.code, 6);
    const auto lines = lines_of(closed.output);
    ASSERT_EQ(lines.size(), 3u) << closed.output;
    EXPECT_EQ(lines[0], "no");
    EXPECT_TRUE(lines[1].starts_with("  paused  source nightly is paused")) << lines[1];
    EXPECT_TRUE(lines[2].starts_with("  not before 20")) << lines[2];
    nightly.push_back("--json");
    const Ended json = cli(nightly);
    EXPECT_EQ(json.code, 6);
    EXPECT_EQ(text(list(parse(json.output), "held_by").at(0), "rule"), id);
    EXPECT_EQ(cli({"limit", "can-start"}).code, 2) << "of which type?";
}

}  // namespace cli_quotas_test
}  // namespace sluice::e2e
