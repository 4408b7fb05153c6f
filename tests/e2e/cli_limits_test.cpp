// `sluice limit …`: rules as an operator makes, looks at, changes and lifts them.
#include <gtest/gtest.h>

#include <map>

#include "e2e/cli.hpp"
#include "e2e/guarded_engine.hpp"
#include "e2e/rule_commands.hpp"

namespace sluice::e2e {
namespace cli_limits_test {

using Cells = std::map<std::string, std::string>;

// The row of a table that begins with this id, by the headers.
Cells row_of(const std::string& table, const std::string& id) {
    const auto lines = lines_of(table);
    for (const std::string& line : lines) {
        if (!line.starts_with(id)) continue;
        Cells cells;
        const std::string& headers = lines[0];
        for (std::size_t begin = 0; begin < headers.size();) {
            const std::size_t gap = std::min(headers.find("  ", begin), headers.size());
            const std::size_t next = std::min(headers.find_first_not_of(' ', gap), headers.size());
            const bool is_last = next == headers.size();
            std::string cell;
            if (begin < line.size()) {
                cell = line.substr(begin, is_last ? std::string::npos : next - begin);
            }
            cell.erase(cell.find_last_not_of(' ') + 1);
            cells[headers.substr(begin, gap - begin)] = cell;
            begin = next;
        }
        return cells;
    }
    ADD_FAILURE() << "no row of " << id << " in\n" << table;
    return {};
}

class CliLimits : public RuleCommands<CliTest> {
  protected:
    std::string added(Words words) const {
        words.insert(words.begin(), {"limit", "add", "--queue", api.queue()});
        return changed(words);
    }
    Cells shown(const std::string& id) const {
        return row_of(cli({"limit", "list", "-o", "table"}).output, id);
    }
    // The rules that name this test's queue.
    List rules() {
        List found;
        for (const Json& rule : list(api.get("/api/v1/limits"), "limits")) {
            if (text(rule, "queue") == api.queue()) found.push_back(rule);
        }
        return found;
    }

    const std::string name = fresh_name("rule");
};

// ── each verb ──

TEST_F(CliLimits, AnAddedRuleHoldsAndIsShown) {
    const std::string id =
        added({"--name", name, "--max-active", "1", "--ticket", "OPS-7", "--kind", "throttle"});
    submit_some(api, 3);
    EXPECT_EQ(api.claim({{"limit", 3}}).size(), 1u);

    const std::string fields = cli({"limit", "get", id}).output;
    for (const std::string line :
         {"kind\tthrottle", "max_active\t1", "active\t1", "waiting\t2", "ticket\tOPS-7",
          "reason\ta test", "actor\tanonymous", "use\t1/1", "closed\tfull"}) {
        EXPECT_TRUE(has(fields, "\n" + line + "\n")) << line << "\n" << fields;
    }
    const std::string sheet = on_terminal({"limit", "get", name}).output;
    EXPECT_TRUE(sheet.starts_with("throttle " + id + "  " + name)) << sheet;
    EXPECT_TRUE(has(sheet, "1/1") && has(sheet, "queue " + api.queue())) << sheet;
    const std::string rows = cli({"limit", "list"}).output;
    EXPECT_TRUE(rows.starts_with(
        "id\tkind\tname\tprofile\ttenant\ttype\tqueue\tsource\tper\tactive\tmax_active\t"
        "starts\twaiting\tpaused\tuntil\tconfigured\tactor\treason\tticket"))
        << rows;
    EXPECT_TRUE(has(rows, id + "\tthrottle\t" + name + "\t\t\t\t" + api.queue() +
                              "\t\t\t1\t1\t\t2\tfalse\t\tfalse\tanonymous\ta test\tOPS-7"))
        << rows;
}

TEST_F(CliLimits, AChangeLeavesWhatItDoesNotName) {
    const std::string id = added(
        {"--name", name, "--max-active", "1", "--rate", "9/h", "--burst", "9", "--until", "2h"});
    submit_some(api, 4);
    EXPECT_EQ(api.claim({{"limit", 4}}).size(), 1u);

    const Ended raised = tried({"limit", "change", name, "--max-active", "4"});
    EXPECT_EQ(raised.output, id + "\n");
    EXPECT_TRUE(has(raised.errors, "it lets 3 jobs go")) << raised.errors;
    EXPECT_EQ(api.claim({{"limit", 2}}).size(), 2u);
    Json rule = rule_of(api, id);
    EXPECT_EQ(number(at(rule, "rate"), "count"), 9);
    EXPECT_FALSE(is_null(rule, "until"));
    changed({"limit", "change", id, "--max-active", "none", "--until", "none"});
    EXPECT_EQ(api.claim({{"limit", 4}}).size(), 1u);
    rule = rule_of(api, id);
    EXPECT_TRUE(is_null(rule, "max_active"));
    EXPECT_TRUE(is_null(rule, "until"));
    EXPECT_EQ(number(rule, "revision"), 3);
}

TEST_F(CliLimits, AChangeOfARateKeepsItsBurst) {
    const std::string id = added({"--rate", "20/min", "--burst", "20", "--ticket", "OPS-1"});
    const auto burst = [&] { return number(at(rule_of(api, id), "rate"), "burst"); };

    changed({"limit", "change", id, "--rate", "6/min"});
    EXPECT_EQ(burst(), 20);
    changed({"limit", "change", id, "--burst", "10", "--ticket", "none"});
    EXPECT_EQ(burst(), 10);
    EXPECT_EQ(number(at(rule_of(api, id), "rate"), "count"), 6);
    EXPECT_TRUE(is_null(rule_of(api, id), "ticket"));
}

TEST_F(CliLimits, ARuleIsPausedAndResumedByAChange) {
    added({"--name", name, "--max-active", "5"});
    submit_some(api, 2);

    const Ended paused = tried({"limit", "change", name, "--paused"});
    EXPECT_TRUE(has(paused.errors, "it holds back 2 jobs that wait now")) << paused.errors;
    EXPECT_TRUE(api.claim().empty());
    const Ended both = tried({"limit", "change", name, "--paused", "--resume"});
    EXPECT_EQ(both.code, 2);
    changed({"limit", "change", name, "--resume"});
    EXPECT_EQ(api.claim({{"limit", 5}}).size(), 2u);
}

TEST_F(CliLimits, ALiftedRuleIsGoneAndLetsGo) {
    const std::string id = added({"--name", name, "--paused"});
    api.submit();
    EXPECT_TRUE(api.claim().empty());

    const Ended lifted = tried({"limit", "lift", name});

    EXPECT_EQ(lifted.output, id + "\n");
    EXPECT_TRUE(has(lifted.errors, "it lets 1 job go")) << lifted.errors;
    EXPECT_EQ(api.claim().size(), 1u);
    EXPECT_EQ(cli({"limit", "get", id}).code, 5);
    EXPECT_FALSE(has(cli({"limit", "list", "-o", "name"}).output, id));
}

TEST_F(CliLimits, ARuleIsNamedByItsIdTheBeginningOfItOrItsName) {
    const std::string id = added({"--name", name, "--max-active", "1"});
    for (const std::string& word : {id, id.substr(0, 23), name}) {
        EXPECT_EQ(cli({"limit", "get", word, "-o", "name"}).output, id + "\n") << word;
    }
    const std::string other = added({"--name", name, "--max-active", "2", "--kind", "throttle"});

    const Ended many = cli({"limit", "get", name});

    EXPECT_EQ(many.code, 2);
    EXPECT_TRUE(has(many.errors, id) && has(many.errors, other)) << many.errors;
}

// ── tables ──

TEST_F(CliLimits, TheTableShowsUseAgainstLimit) {
    const std::string places = added({"--name", name, "--max-active", "2"});
    const std::string rate = added({"--rate", "10/d", "--burst", "10"});
    const std::string types =
        added({"--type", "scan.*", "--per", "type", "--max-active", "1", "--kind", "throttle"});
    api.submit({{"type", "scan.a"}});
    api.submit({{"type", "scan.b"}});
    EXPECT_EQ(api.claim({{"limit", 9}}).size(), 2u);
    submit_some(api, 3, {{"type", "scan.b"}});

    Cells row = shown(places);
    EXPECT_EQ(row["KIND"], "limit");
    EXPECT_EQ(row["NAME"], name);
    EXPECT_EQ(row["COVERS"], "queue " + api.queue());
    EXPECT_EQ(row["ACTIVE"], "2/2");
    EXPECT_EQ(row["WAITING"], "3");
    EXPECT_EQ(row["CLOSED"], "full");
    EXPECT_EQ(row["BY"], "anonymous");
    EXPECT_EQ(row["REASON"], "a test");
    EXPECT_EQ(shown(rate)["STARTS"], "10/d, 8 left");
    row = shown(types);
    EXPECT_EQ(row["KIND"], "throttle");
    EXPECT_EQ(row["COVERS"], "type scan.*, queue " + api.queue() + ", each type");
    EXPECT_EQ(row["ACTIVE"], "2, 1 each");
    EXPECT_EQ(row["CLOSED"], "2 of 2");
    const std::string sheet = cli({"limit", "get", types, "-o", "table"}).output;
    const Cells use = row_of(sheet.substr(sheet.find("METER")), "type scan.b");
    EXPECT_EQ(use.at("ACTIVE"), "1");
    EXPECT_EQ(use.at("WAITING"), "3");
    EXPECT_EQ(use.at("OPEN"), "no");
}

TEST_F(CliLimits, TheTableSaysWhenWhatIsClosedOpens) {
    const std::string pause = added({"--paused", "--until", "2h", "--source", "nightly"});
    const std::string rate = added({"--rate", "1/h"});
    submit_some(api, 2);
    EXPECT_EQ(api.claim({{"limit", 2}}).size(), 1u);

    EXPECT_EQ(shown(pause)["CLOSED"], "paused");
    EXPECT_TRUE(shown(pause)["ENDS"].starts_with("in 1")) << shown(pause)["ENDS"];
    EXPECT_EQ(shown(rate)["STARTS"], "1/h, 0 left");
    EXPECT_TRUE(shown(rate)["CLOSED"].starts_with("for 5")) << shown(rate)["CLOSED"];
    EXPECT_EQ(shown(rate)["WAITING"], "1");
    const std::string fields =
        cli({"limit", "list", "-o", "jsonl", "--fields", "id,closed,use,held"}).output;
    EXPECT_TRUE(has(fields, "{\"id\":\"" + pause + "\",\"closed\":\"paused\"")) << fields;
    const Ended screen = on_terminal({"limit", "list"}, {.columns = 200});
    EXPECT_TRUE(screen.output.starts_with("ID")) << screen.output;
    EXPECT_TRUE(has(screen.output, "paused")) << screen.output;
}

// ── changes that are only tried, and those that are refused ──

TEST_F(CliLimits, ADryRunChangesNothingAndSaysWhatWouldBe) {
    submit_some(api, 3);
    const Ended add = tried({"limit", "add", "--queue", api.queue(), "--paused", "--dry-run"});
    EXPECT_EQ(add.code, 0) << add.errors;
    EXPECT_EQ(add.output, "");
    EXPECT_TRUE(has(add.errors, "it would hold back 3 jobs that wait now")) << add.errors;
    EXPECT_TRUE(rules().empty());

    const std::string id = added({"--max-active", "5"});
    const Json before = rule_of(api, id);
    const Ended change = tried({"limit", "change", id, "--paused", "--dry-run"});
    EXPECT_EQ(change.output, "");
    EXPECT_TRUE(has(change.errors, "it would hold back 3 jobs that wait now")) << change.errors;
    EXPECT_EQ(rule_of(api, id), before);
    EXPECT_EQ(api.claim().size(), 1u);

    changed({"limit", "change", id, "--paused"});
    const Ended lift = tried({"limit", "lift", id, "--dry-run"});
    EXPECT_EQ(lift.output, "");
    EXPECT_TRUE(has(lift.errors, "it would let 2 jobs go")) << lift.errors;
    EXPECT_EQ(rules().size(), 1u);
    EXPECT_TRUE(api.claim().empty());
}

TEST_F(CliLimits, AChangeNeedsAReason) {
    const std::string id = added({"--name", name, "--max-active", "5"});
    const Json before = rule_of(api, id);
    for (const Words& words :
         {Words{"limit", "add", "--queue", api.queue(), "--paused"},
          Words{"limit", "change", name, "--paused"}, Words{"limit", "lift", name}}) {
        const Ended ended = cli(words);
        EXPECT_EQ(ended.code, 2) << words[1];
        EXPECT_TRUE(has(ended.errors, "--reason is required")) << ended.errors;
    }
    EXPECT_EQ(rules().size(), 1u);
    EXPECT_EQ(rule_of(api, id), before);
}

TEST_F(CliLimits, AnUnknownRuleIsNotFound) {
    for (const std::string& word : {std::string("65f000000000000000000000"), fresh_name("none")}) {
        EXPECT_EQ(cli({"limit", "get", word}).code, 5) << word;
        EXPECT_EQ(tried({"limit", "change", word, "--max-active", "1"}).code, 5) << word;
        const Ended lift = tried({"limit", "lift", word});
        EXPECT_EQ(lift.code, 5) << word;
        EXPECT_TRUE(has(lift.errors, word)) << lift.errors;
    }
}

TEST_F(CliLimits, WordsThatMakeNoSenseAreRefused) {
    const std::vector<std::pair<Words, std::string>> cases{
        {{"--rate", "fast"}, "--rate \"fast\" is no rate"},
        {{"--rate", "5/lightyear"}, "5000/h"},
        {{"--burst", "2"}, "--burst needs --rate"},
        {{"--max-active", "two"}, "--max-active \"two\""},
        {{"--max-active", "0"}, "must be at least 1"},
        {{"--per", "color", "--max-active", "1"}, "--per"},
        {{"--kind", "quota", "--max-active", "1"}, "--kind"},
        {{"--paused", "--until", "soon"}, "--until \"soon\""},
        {{}, "paused"},
    };
    for (const auto& [more, message] : cases) {
        Words words{"limit", "add", "--queue", api.queue()};
        words.insert(words.end(), more.begin(), more.end());
        const Ended ended = tried(words);
        EXPECT_EQ(ended.code, 2) << message;
        EXPECT_TRUE(has(ended.errors, message)) << ended.errors;
    }
    EXPECT_TRUE(rules().empty());
}

TEST_F(CliLimits, ARuleThatCoversNothingIsMadeWithAWarning) {
    const Ended ended = tried({"limit", "add", "--queue", api.queue(), "--max-active", "1"});
    EXPECT_EQ(ended.code, 0);
    EXPECT_TRUE(has(ended.errors, "warning: no job that waits or runs now is covered"))
        << ended.errors;
    EXPECT_EQ(rules().size(), 1u);
}

// ── the answers to programs, the history, and the numbers ──

TEST_F(CliLimits, JsonIsTheAnswerOfTheApi) {
    const Ended made =
        tried({"limit", "add", "--queue", api.queue(), "--max-active", "1", "--json"});
    const Json rule = parse(made.output);
    const std::string id = text(rule, "id");
    EXPECT_FALSE(flag(rule, "dry_run"));
    EXPECT_EQ(number(at(rule, "effect"), "held_back"), 0);
    EXPECT_EQ(list(rule, "warnings").size(), 1u);
    EXPECT_EQ(parse(cli({"limit", "get", id, "--json"}).output), rule_of(api, id));
    const Json listed = parse(cli({"limit", "list", "--json"}).output);
    EXPECT_EQ(list(listed, "limits").size(), list(api.get("/api/v1/limits"), "limits").size());
    const Json tried_only =
        parse(tried({"limit", "change", id, "--paused", "--dry-run", "--json"}).output);
    EXPECT_TRUE(flag(tried_only, "dry_run"));
    EXPECT_TRUE(flag(tried_only, "paused"));
    EXPECT_FALSE(flag(rule_of(api, id), "paused"));
    const Json checked = parse(cli({"limit", "check", "--json"}).output);
    EXPECT_TRUE(list(checked, "differences").empty());
    EXPECT_FALSE(flag(checked, "repaired"));
    const Json lifted = parse(tried({"limit", "lift", id, "--json"}).output);
    EXPECT_EQ(text(lifted, "id"), id);
}

TEST_F(CliLimits, CheckAgreesWithTheLeases) {
    added({"--max-active", "2"});
    submit_some(api, 2);
    api.claim_one();
    const Ended checked = cli({"limit", "check"});
    EXPECT_EQ(checked.code, 0);
    EXPECT_EQ(checked.output, "");
    EXPECT_TRUE(has(checked.errors, "every meter agrees with the leases")) << checked.errors;
}

TEST(CliLimitHistory, HasWhoChangedWhatWhenAndWhy) {
    GuardedEngine engine;
    const std::string token = engine.token(
        {{"name", "ada"}, {"kind", "user"}, {"scopes", List{"orch:quota", "orch:read"}}});
    const auto cli = [&](Words words) {
        words.insert(words.end(), {"--server", "http://127.0.0.1:" + std::to_string(engine.port()),
                                   "--token", token});
        const Ended ended = run_sluice(words);
        EXPECT_EQ(ended.code, 0) << ended.errors;
        return ended.output;
    };
    const std::string early = later_by(Millis(-5000));
    const std::string id = cli({"limit", "add", "--name", "few", "--max-active", "1", "--reason",
                                "slow scanner", "--ticket", "OPS-7"})
                               .substr(0, 24);
    cli({"limit", "change", "few", "--max-active", "2", "--reason", "a second one"});
    cli({"limit", "lift", "few", "--reason", "it is quick now", "--ticket", "OPS-9"});
    const std::string late = later_by(Millis(5000));

    const auto lines = lines_of(cli({"limit", "history"}));
    EXPECT_EQ(lines.at(0), "seq\tat\tactor\taction\tsubject\treason\tticket\tdetail");
    const Json document = parse(cli({"limit", "history", "--json", "--limit", "3"}));
    const List& events = list(document, "events");
    ASSERT_EQ(events.size(), 3u) << "the newest three";
    for (const Json& event : events) {
        EXPECT_EQ(text(event, "actor"), "user:ada");
        EXPECT_EQ(text(at(event, "detail"), "rule"), id);
        EXPECT_GE(text(event, "at"), early);
        EXPECT_LE(text(event, "at"), late);
    }
    const Json& added = at(events[0], "detail");
    EXPECT_EQ(text(events[0], "action"), "rule_added");
    EXPECT_TRUE(is_null(added, "before"));
    EXPECT_EQ(number(at(added, "after"), "max_active"), 1);
    const Json& changed = at(events[1], "detail");
    EXPECT_EQ(text(events[1], "action"), "rule_changed");
    EXPECT_EQ(number(at(changed, "before"), "max_active"), 1);
    EXPECT_EQ(number(at(changed, "after"), "max_active"), 2);
    EXPECT_EQ(text(events[2], "action"), "rule_lifted");
    EXPECT_TRUE(is_null(at(events[2], "detail"), "after"));
    const std::string table = cli({"limit", "history", "-o", "table"});
    EXPECT_TRUE(has(table, "slow scanner") && has(table, "OPS-7")) << table;
    EXPECT_TRUE(has(lines.back(), "\tuser:ada\trule_lifted\t" + id + "\tit is quick now\tOPS-9\t"))
        << lines.back();
}

}  // namespace cli_limits_test
}  // namespace sluice::e2e
