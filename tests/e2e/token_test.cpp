// `sluice token …` on an engine, and workers with tokens.
#include <gtest/gtest.h>

#include <fstream>

#include "e2e/guarded_engine.hpp"
#include "e2e/token_support.hpp"

namespace sluice::e2e {
namespace token_test {

constexpr std::size_t token_bytes = 4 + 24 + 1 + 43;

// A person with a token in the environment, at the command line of an engine that asks for one.
class TokenCommands : public testing::Test {
  protected:
    Words variables(const std::string& token) const {
        return {"SLUICE_SERVER=http://127.0.0.1:" + std::to_string(engine.port()),
                "SLUICE_TOKEN=" + token};
    }
    Words command(const std::string& token, Words words) const {
        words.insert(words.begin(), SLUICE_BINARY);
        return in_environment(variables(token), words);
    }
    Ended as(const std::string& token, const Words& words) const {
        Process process(command(token, words));
        return run_to_end(process);
    }
    Ended as_admin(const Words& words) const { return as(engine.admin(), words); }

    // The one line that a command printed.
    static std::string line_of(const Ended& ended) {
        EXPECT_EQ(ended.code, 0) << ended.errors;
        const auto lines = lines_of(ended.output);
        EXPECT_EQ(lines.size(), 1u) << ended.output;
        return lines.empty() ? "" : lines.front();
    }
    std::string created(Words words) const {
        words.insert(words.begin(), {"token", "create"});
        return line_of(as_admin(words));
    }
    Json who(const std::string& token) { return parse(engine.get(token, "/api/v1/whoami").body); }
    std::string submit(const std::string& type) {
        const Response response =
            engine.post(engine.admin(), "/api/v1/jobs", {{"type", type}, {"payload", Fields{}}});
        EXPECT_LT(response.status, 300) << response.body;
        return text(parse(response.body), "id");
    }
    std::string state_of(const std::string& job) {
        return text(parse(engine.get(engine.admin(), "/api/v1/jobs/" + job).body), "state");
    }

    GuardedEngine engine;
};

TEST_F(TokenCommands, CreatePrintsTheTokenAloneAndNobodyEverAgain) {
    const Ended ended = as_admin(
        {"token", "create", "ada", "--scope", "orch:read,orch:operate", "--tenant", "shop"});
    const std::string token = line_of(ended);
    EXPECT_EQ(token.size(), token_bytes);
    EXPECT_EQ(ended.errors, "");

    const Json caller = who(token);
    EXPECT_EQ(text(caller, "name"), "ada");
    EXPECT_EQ(text(caller, "kind"), "user");
    EXPECT_EQ(text(caller, "tenant"), "shop");
    EXPECT_EQ(list(caller, "scopes"), (List{"orch:read", "orch:operate"}));
    for (const Words& words : {Words{"token", "list", "--all", "--json"},
                               Words{"token", "revoke", "--name", "ada", "--json"},
                               Words{"token", "list", "--all", "-o", "wide"}}) {
        const Ended shown = as_admin(words);
        EXPECT_EQ(shown.code, 0) << shown.errors;
        expect_untold(shown, token);
    }
}

TEST_F(TokenCommands, CreateSaysOnATerminalThatTheTokenIsShownOnce) {
    TerminalOptions options;
    options.environment = {{"SLUICE_SERVER", "http://127.0.0.1:" + std::to_string(engine.port())},
                           {"SLUICE_TOKEN", engine.admin()}};
    const Ended ended = run_on_terminal({"token", "create", "ada"}, options);
    EXPECT_EQ(ended.code, 0) << ended.output;
    EXPECT_TRUE(has(ended.output, "slu_")) << ended.output;
    EXPECT_TRUE(has(ended.output, "shown this once")) << ended.output;
}

TEST_F(TokenCommands, CreateTellsAllAsJson) {
    const Json token = parse(line_of(as_admin(
        {"token", "create", "press", "--kind", "worker", "--types", "mail,build", "--json"})));
    EXPECT_EQ(text(token, "state"), "active");
    EXPECT_EQ(text(token, "created_by"), "service:admin");
    EXPECT_EQ(list(token, "job_types"), (List{"build", "mail"}));
    EXPECT_EQ(text(token, "token").size(), token_bytes);
    EXPECT_FALSE(is_null(token, "expires_at"));
}

TEST_F(TokenCommands, CreateTakesAnEndAsATimeADurationOrNever) {
    EXPECT_TRUE(is_null(who(created({"a", "--expires", "never"})), "expires_at"));
    const std::string moment = "2099-01-02T03:04:05Z";
    EXPECT_TRUE(text(who(created({"a", "--expires", moment})), "expires_at")
                    .starts_with("2099-01-02T03:04:05"));
    const std::string soon = text(who(created({"a", "--expires", "7d"})), "expires_at");
    EXPECT_FALSE(soon.empty());
    const Ended wrong = as_admin({"token", "create", "a", "--expires", "soon"});
    EXPECT_EQ(wrong.code, 2);
    EXPECT_TRUE(has(wrong.errors, "--expires")) << wrong.errors;
    EXPECT_EQ(as_admin({"token", "create", "a", "--expires", "2001-01-01T00:00:00Z"}).code, 2);
}

TEST_F(TokenCommands, CreateKnowsKindsAndScopes) {
    const Ended kind = as_admin({"token", "create", "a", "--kind", "wroker"});
    EXPECT_EQ(kind.code, 2);
    EXPECT_TRUE(has(kind.errors, "worker")) << kind.errors;
    const Ended scope = as_admin({"token", "create", "a", "--scope", "orch:reed"});
    EXPECT_EQ(scope.code, 2);
    EXPECT_TRUE(has(scope.errors, "orch:read")) << scope.errors;
    const std::vector<std::pair<Words, std::string>> cases{
        {{"--types", "a"}, "--types is for --kind worker only"},
        {{"--kind", "worker", "--scope", "orch:read"}, "--all-tenants are for the other kinds"},
        {{"--kind", "worker", "--all-tenants"}, "--all-tenants are for the other kinds"},
        {{"--expires", "tomorrow"}, "--expires \"tomorrow\" is neither a duration"},
    };
    for (const auto& [more, message] : cases) {
        Words words{"token", "create", "a"};
        words.insert(words.end(), more.begin(), more.end());
        const Ended ended = as_admin(words);
        EXPECT_EQ(ended.code, 2) << message;
        EXPECT_TRUE(has(ended.errors, message)) << ended.errors;
    }
    EXPECT_TRUE(has(as_admin({"token", "create", "a"}).errors, "It has no scope"));

    const auto complete = [](Words words) {
        words.insert(words.begin(), {"__complete", ":", "token"});
        return lines_of(run_sluice(words).output);
    };
    EXPECT_EQ(complete({"create", "--kind", "w"}), Words{"worker"});
    EXPECT_EQ(complete({"create", "--scope", "orch:read,orch:o"}), Words{"orch:read,orch:operate"});
    EXPECT_EQ(complete({"revoke", ""}), Words{});
}

TEST_F(TokenCommands, ListShowsTheOnesInUseUnlessAllAreAskedFor) {
    created({"ada"});
    created({"bob", "--kind", "service"});
    EXPECT_EQ(as_admin({"token", "revoke", "--name", "bob"}).code, 0);

    const Ended some = as_admin({"token", "list"});
    EXPECT_TRUE(has(some.output, "ada")) << some.output;
    EXPECT_FALSE(has(some.output, "bob")) << some.output;
    const Ended all = as_admin({"token", "list", "--all", "--fields", "name,state"});
    EXPECT_TRUE(has(all.output, "bob\trevoked")) << all.output;
    EXPECT_TRUE(has(all.output, "ada\tactive")) << all.output;
}

TEST_F(TokenCommands, RevokeTakesAnIdOrItsBeginningOrAName) {
    const auto id_of = [](const std::string& token) { return token.substr(4, 24); };
    const std::string whole = created({"a"});
    EXPECT_EQ(as_admin({"token", "revoke", id_of(whole)}).code, 0);
    EXPECT_EQ(engine.get(whole, "/api/v1/whoami").status, 401);
    EXPECT_EQ(as_admin({"token", "revoke", id_of(whole)}).code, 0);  // once more

    const std::string begun = created({"b"});
    EXPECT_EQ(as_admin({"token", "revoke", id_of(begun).substr(0, 23)}).code, 0);
    EXPECT_EQ(engine.get(begun, "/api/v1/whoami").status, 401);

    created({"twice"});
    created({"twice"});
    const Ended unclear = as_admin({"token", "revoke", "--name", "twice"});
    EXPECT_EQ(unclear.code, 6);
    EXPECT_TRUE(has(unclear.errors, "2 tokens")) << unclear.errors;
    const Ended nobody = as_admin({"token", "revoke", "--name", "nobody"});
    EXPECT_EQ(nobody.code, 5);
    EXPECT_TRUE(has(nobody.errors, "no active token has the name nobody")) << nobody.errors;
    EXPECT_TRUE(has(as_admin({"token", "revoke", "press"}).errors, "for a name: --name NAME"));
    EXPECT_EQ(as_admin({"token", "revoke", "65f0000000000000deadbeef"}).code, 5);
    EXPECT_EQ(as_admin({"token", "revoke"}).code, 2);
}

TEST_F(TokenCommands, ATokenInThePlaceOfItsIdIsNotRepeated) {
    const std::string token = created({"a"});
    const Ended ended = as_admin({"token", "revoke", token});
    EXPECT_EQ(ended.code, 2);
    expect_untold(ended, token);
    EXPECT_EQ(engine.get(token, "/api/v1/whoami").status, 200);
}

TEST_F(TokenCommands, WhoamiTellsWhomTheEngineSees) {
    const std::string token = created({"ada", "--scope", "orch:read"});
    const Ended ended = as(token, {"token", "whoami"});
    EXPECT_EQ(ended.code, 0) << ended.errors;
    EXPECT_TRUE(has(ended.output, "name\tada")) << ended.output;
    EXPECT_TRUE(has(ended.output, "scopes\torch:read")) << ended.output;
    expect_untold(ended, token);
}

TEST_F(TokenCommands, WhoIsRefusedReadsWhyAndWhatToDo) {
    const std::string token = created({"ada", "--scope", "orch:read"});
    const Ended forbidden = as(token, {"token", "create", "eve", "--scope", "orch:admin"});
    EXPECT_EQ(forbidden.code, 4);
    EXPECT_TRUE(has(forbidden.errors, "orch:admin")) << forbidden.errors;
    EXPECT_TRUE(has(forbidden.errors, "token whoami")) << forbidden.errors;
    expect_untold(forbidden, token);

    std::string wrong = token;
    wrong.back() = wrong.back() == 'A' ? 'B' : 'A';
    const Ended stranger = as(wrong, {"job", "list"});
    EXPECT_EQ(stranger.code, 4);
    EXPECT_TRUE(has(stranger.errors, "token refused") && has(stranger.errors, "SLUICE_TOKEN"))
        << stranger.errors;
    expect_untold(stranger, wrong);
    const Ended nobody = as("", {"job", "list"});
    EXPECT_EQ(nobody.code, 4);
    EXPECT_TRUE(has(nobody.errors, "no token was given")) << nobody.errors;
}

TEST_F(TokenCommands, ACurlCommandHasThePlaceOfTheToken) {
    const Ended ended = as_admin({"token", "create", "ada", "--curl"});
    EXPECT_EQ(ended.code, 0) << ended.errors;
    EXPECT_TRUE(has(ended.output, "Bearer $SLUICE_TOKEN")) << ended.output;
    expect_untold(ended, engine.admin());
    EXPECT_EQ(as_admin({"token", "create", "ada", "--curl", "--store", "sqlite:x"}).code, 2);
}

TEST_F(TokenCommands, ATokenMayStandInAFile) {
    const TempFolder folder;
    const std::string path = (folder.path() / "token").string();
    const std::string token = created({"ada"});
    std::ofstream(path) << token << '\n';
    const auto name_seen = [&](const Words& environment, const Words& flags) {
        Words words{SLUICE_BINARY,
                    "token",
                    "whoami",
                    "-o",
                    "name",
                    "--server",
                    "http://127.0.0.1:" + std::to_string(engine.port())};
        words.insert(words.end(), flags.begin(), flags.end());
        Process process(in_environment(environment, words));
        const Ended ended = run_to_end(process);
        expect_untold(ended, token);
        return ended.code == 0 ? lines_of(ended.output).at(0) : std::to_string(ended.code);
    };
    EXPECT_EQ(name_seen({}, {"--token-file", path}), "ada");
    EXPECT_EQ(name_seen({"SLUICE_TOKEN_FILE=" + path}, {}), "ada");
    EXPECT_EQ(name_seen({"SLUICE_TOKEN=" + engine.admin()}, {"--token-file", path}), "ada");
    EXPECT_EQ(name_seen({"SLUICE_TOKEN_FILE=" + path, "SLUICE_TOKEN=" + engine.admin()}, {}),
              "admin");
    EXPECT_EQ(name_seen({}, {"--token-file", path + "x"}), "2");
    std::ofstream(path, std::ios::app) << "another line\n";
    EXPECT_EQ(name_seen({}, {"--token-file", path}), "2");
}

// ── workers ──

TEST_F(TokenCommands, AWorkersTokenRunsJobsOfItsTypesAndNoOthers) {
    const std::string token = created({"press", "--kind", "worker", "--types", "mail"});
    const std::string job = submit("mail");
    Process worker(command(token, {"work", "--types", "mail", "--exec", "true"}));
    EXPECT_TRUE(eventually([&] { return state_of(job) == "succeeded"; }));
    worker.send_signal(SIGTERM);
    EXPECT_EQ(run_to_end(worker).code, 0);

    const Ended other = as(token, {"work", "--types", "build", "--exec", "true"});
    EXPECT_EQ(other.code, 4);
    EXPECT_TRUE(has(other.errors, "types: mail")) << other.errors;
    EXPECT_EQ(as(token, {"job", "list"}).code, 4);
}

TEST_F(TokenCommands, AnIdleWorkerStopsWhenItsTokenIsRevoked) {
    const std::string token = created({"press", "--kind", "worker"});
    const std::string job = submit("mail");
    Process worker(command(token, {"work", "--types", "mail", "--lease", "3s", "--exec", "true"}));
    EXPECT_TRUE(eventually([&] { return state_of(job) == "succeeded"; }));
    EXPECT_EQ(as_admin({"token", "revoke", "--name", "press"}).code, 0);
    const Ended ended = run_to_end(worker);
    EXPECT_EQ(ended.code, 4);
    EXPECT_TRUE(has(ended.errors, "access token is needed")) << ended.errors;
    expect_untold(ended, token);
}

TEST_F(TokenCommands, AWorkerWhoseTokenIsRevokedStopsItsJobWhenTheLeaseEnds) {
    const std::string token = created({"press", "--kind", "worker"});
    const std::string job = submit("mail");
    Process worker(command(token, {"work", "--types", "mail", "--lease", "2s", "--stop-grace", "1s",
                                   "--exec", "sleep", "60"}));
    EXPECT_TRUE(eventually([&] { return state_of(job) == "running"; }));
    EXPECT_EQ(as_admin({"token", "revoke", "--name", "press"}).code, 0);
    const Ended ended = run_to_end(worker);
    EXPECT_EQ(ended.code, 4) << ended.errors;
    EXPECT_TRUE(has(ended.errors, "could not be renewed")) << ended.errors;
    // It says that calls fail once, not at each of them.
    const std::string notice = "calls to the engine fail";
    const std::size_t first = ended.errors.find(notice);
    ASSERT_NE(first, std::string::npos) << ended.errors;
    EXPECT_EQ(ended.errors.find(notice, first + 1), std::string::npos) << ended.errors;
}

}  // namespace token_test
}  // namespace sluice::e2e
