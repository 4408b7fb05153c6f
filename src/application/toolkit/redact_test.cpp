#include "application/toolkit/redact.hpp"

#include <gtest/gtest.h>

#include "domain/values/utf8.hpp"

namespace sluice {
namespace redact_test {

std::string cleaned(std::vector<std::string> secrets, std::string text) {
    Redactor(secrets).clean(text);
    return text;
}

std::string cleaned_json(std::vector<std::string> secrets, std::string json) {
    Redactor(secrets).clean_json(json);
    return json;
}

TEST(Redactor, TakesEveryOccurrenceOut) {
    EXPECT_EQ(cleaned({"hunter22"}, "hunter22 and hunter22hunter22."), "*** and ***.");
    EXPECT_EQ(cleaned({"hunter22"}, "xhunter2 hunter22"), "xhunter2 ***");
    EXPECT_EQ(cleaned({"hunter22", "hunter22-and-more"}, "hunter22-and-more"), "***");
}

TEST(Redactor, LeavesShortTextsAloneSinceTheyWouldBeFoundEverywhere) {
    EXPECT_EQ(cleaned({"short", "", "yes"}, "a short yes"), "a short yes");
    EXPECT_TRUE(Redactor({"short"}).is_idle());
    EXPECT_FALSE(Redactor({"longer"}).is_idle());
}

TEST(Redactor, FindsTheFormsThatSecretsHaveInUrlsAndJson) {
    EXPECT_EQ(cleaned({"p@ss/w rd"}, "GET /?p=p%40ss%2Fw%20rd"), "GET /?p=***");
    EXPECT_EQ(cleaned({"p@ss/w rd"}, "GET /?p=p%40ss%2fw%20rd"), "GET /?p=***");
    EXPECT_EQ(cleaned({"say \"hi\" now"}, R"(sent {"p":"say \"hi\" now"})"), R"(sent {"p":"***"})");
}

TEST(Redactor, FindsSecretsInBase64WhereverTheyStandInIt) {
    // "hunter22-secret", "ann:hunter22-secret" and "anna:hunter22-secret!" in base64.
    EXPECT_EQ(cleaned({"hunter22-secret"}, "x aHVudGVyMjItc2VjcmV0"), "x ***");
    EXPECT_EQ(cleaned({"hunter22-secret"}, "Basic YW5uOmh1bnRlcjIyLXNlY3JldA=="),
              "Basic YW5uOm***A==");
    EXPECT_EQ(cleaned({"hunter22-secret"}, "Basic YW5uYTpodW50ZXIyMi1zZWNyZXQh"),
              "Basic YW5uYTp***Qh");
}

TEST(Redactor, FindsThePasswordOfAUrlAlone) {
    EXPECT_EQ(cleaned({"postgres://ann:hunter22@db:5432/x"}, "no entry for hunter22"),
              "no entry for ***");
    EXPECT_EQ(cleaned({"https://host/a:hunter22@b"}, "hunter22"), "hunter22");
}

TEST(Redactor, FindsEachLineOfATextWithLines) {
    const std::string key = "-----BEGIN KEY-----\r\nMIIEabcdef\r\n-----END KEY-----\n";
    EXPECT_EQ(cleaned({key}, "read MIIEabcdef"), "read ***");
}

TEST(Redactor, ALongSecretBecomesOneStandIn) {
    std::string secret;
    for (int i = 0; i < 700; ++i) secret += static_cast<char>('a' + (i * i + i / 7) % 26);
    EXPECT_EQ(cleaned({secret}, "<" + secret + ">"), "<***>");
}

TEST(Redactor, NeverSplitsACharacter) {
    std::string secret;
    for (int i = 0; i < 300; ++i) secret += "\xC3\xA9";
    // Begins as the secret does, up to the middle of a character, and goes on with another one.
    const std::string after = cleaned({"x" + secret}, "x" + secret.substr(0, 239) + "\xA8 end");
    EXPECT_TRUE(is_utf8(after)) << after;
    EXPECT_TRUE(after.starts_with("***"));
    EXPECT_TRUE(after.ends_with("\xC3\xA8 end"));
}

TEST(Redactor, InJsonItFindsStringsHoweverTheyAreEscaped) {
    EXPECT_EQ(cleaned_json({"hunter22"}, R"({"a":"is h\u0075nter22.","b": 1.0 })"),
              R"({"a":"is ***.","b": 1.0 })");
    EXPECT_EQ(cleaned_json({"tab\there!"}, R"(["tab\there!","tab\u0009here!"])"),
              R"(["***","***"])");
    EXPECT_EQ(cleaned_json({"hunter22"}, R"({"hunter22":{"x":[null,"\"hunter22\\"]}})"),
              R"({"***":{"x":[null,"\"***\\"]}})");
}

TEST(Redactor, JsonWithoutSecretsKeepsItsBytes) {
    const std::string json = R"( {"a" : "\u00e9\/", "n": 1e5} )";
    EXPECT_EQ(cleaned_json({"hunter22"}, json), json);
}

TEST(Redactor, NamesThatWouldBeTheSameAreNumberedInEachObject) {
    EXPECT_EQ(cleaned_json({"secretone1", "secrettwo2"},
                           R"([{"secretone1":1,"secrettwo2":2,"secretone1secrettwo2":3},)"
                           R"({"secretone1":{"secretone1":4},"***":5,"***2":6,"xsecrettwo2":7}])"),
              R"([{"***":1,"***2":2,"***3":3},{"***":{"***":4},"***2":5,"***22":6,"x***":7}])");
}

TEST(Redactor, InJsonItFindsNumbers) {
    EXPECT_EQ(
        cleaned_json({"86421357"}, R"({"pin":86421357,"a":[-86421357.0,8642135,"86421357"]})"),
        R"({"pin":"***","a":["***",8642135,"***"]})");
}

TEST(Redactor, FindsTheWordsOfASecretByThemselves) {
    EXPECT_EQ(cleaned({"Bearer abc.def.ghi"}, "abc.def.ghi was sent as Bearer"),
              "*** was sent as Bearer");
    EXPECT_EQ(cleaned({"Basic YW5uOmh1bnRlcjI="}, "Basic YW5uOmh1bnRlcjI=; YW5uOmh1bnRlcjI="),
              "***; ***");
    EXPECT_EQ(cleaned({"-----BEGIN PRIVATE KEY-----\nMIIEabcdef"}, "a PRIVATE MIIEabcdef"),
              "a PRIVATE ***");
}

TEST(Redactor, FindsEscapesAsOtherProgramsWriteThem) {
    const std::string secret = "a/b<c>d&\xC3\xA9 \xF0\x9F\x98\x80";
    EXPECT_EQ(cleaned({secret}, R"({"p":"a\/b\u003cc\u003Ed\u0026\u00e9 \ud83d\ude00"})"),
              R"({"p":"***"})");
    EXPECT_EQ(cleaned({secret}, "?p=a/b%3Cc%3ed%26%C3%A9+%F0%9F%98%80&q=1+1"), "?p=***&q=1+1");
    EXPECT_EQ(cleaned({"a+b/c@d"}, "?p=a+b/c%40d%"), "?p=***%");
    EXPECT_EQ(cleaned({"a+b/c@d"}, R"(C:\x\u12 and a+b\/c@d\)"), R"(C:\x\u12 and ***\)");
}

TEST(Redactor, HidesAllOfSecretsThatOverlap) {
    EXPECT_EQ(cleaned({"abcdefgh", "defghijklmnop"}, "<abcdefghijklmnop>"), "<***>");
    EXPECT_EQ(cleaned({"abcdefghij", "cdefgh"}, "<abcdefghij>"), "<***>");
    EXPECT_EQ(cleaned({"abcdef", "abcdefgh", "abcdefghXYZ"}, "<abcdefghXY>"), "<***XY>");
}

TEST(Redactor, LooksForABoundedNumberOfSecrets) {
    std::vector<std::string> secrets{"short", "first-secret", "first-secret"};
    for (int i = 0; i < 2000; ++i) secrets.push_back("aaaaaa" + std::to_string(1000 + i));
    EXPECT_EQ(cleaned(secrets, "first-secret aaaaaa1000 aaaaaa1062 aaaaaa1063"),
              "*** *** *** aaaaaa1063");
    EXPECT_LE(Redactor(secrets).form_count(), 64u * 7);

    std::string lines;
    for (int i = 0; i < 2000; ++i) lines += std::to_string(100000 + i) + "\n";
    EXPECT_LE(Redactor({lines}).form_count(), 256u * 7);
    EXPECT_EQ(cleaned({lines}, "100255 100256"), "*** 100256");
}

// Numbers go on from the last one, so that thousands of such names take no search each.
TEST(Redactor, ManyNamesThatAreTheSameGetNumbersInTheirOrder) {
    std::string json = R"({"hunter22":0)";
    for (int i = 1; i < 5000; ++i) json += ",\"" + std::string(i % 2 + 1, '-') + "hunter22\":0";
    json = cleaned_json({"hunter22"}, json + "}");
    EXPECT_TRUE(json.ends_with(R"(,"-***2499":0,"--***2500":0})")) << json.substr(json.size() - 40);
}

// A text that nearly matches at every position, with as many secrets as are looked for: it must not
// take longer than the time that the whole program has.
TEST(Redactor, NoTextMakesItSlow) {
    std::vector<std::string> secrets;
    for (int i = 0; i < 2000; ++i) secrets.push_back(std::string(100, 'a') + std::to_string(i));
    std::string text(256 * 1024, 'a');
    Redactor(secrets).clean(text);
    EXPECT_EQ(text.size(), 256u * 1024);
}

TEST(WithoutSecrets, LeavesCommandsOfJobsWithoutSecretsToBeTakenAsTheyAre) {
    JobSpec spec;
    spec.payload = R"({"path":"/tmp/hunter22"})";
    EXPECT_FALSE(without_secrets(Report{.error_message = "hunter22"}, Rules(), spec));
    spec.payload = R"({"token":"short"})";
    EXPECT_FALSE(without_secrets(Report{.error_message = "short"}, Rules(), spec));
}

TEST(WithoutSecrets, NumbersAreSecretsToo) {
    JobSpec spec;
    spec.payload = R"({"token":-86421357,"secret":[12345]})";
    const auto report = without_secrets(
        Report{.result = R"({"t":86421357,"n":12345})", .error_message = "86421357 is wrong"},
        Rules(), spec);
    ASSERT_TRUE(report);
    EXPECT_EQ(report->result, R"({"t":"***","n":12345})");
    EXPECT_EQ(report->error_message, "*** is wrong");
}

TEST(WithoutSecrets, CleansAllThatAWorkerCanSay) {
    JobSpec spec;
    spec.payload = R"({"token":"hunter22"})";
    const Rules rules;
    const auto report = without_secrets(Report{.result = R"({"t":"hunter22"})",
                                               .error_code = "E_hunter22",
                                               .error_message = "bad hunter22"},
                                        rules, spec);
    ASSERT_TRUE(report);
    EXPECT_EQ(report->result, R"({"t":"***"})");
    EXPECT_EQ(report->error_code, "E_***");
    EXPECT_EQ(report->error_message, "bad ***");
    EXPECT_EQ(without_secrets(HandBack{.reason = "hunter22"}, rules, spec)->reason, "***");
    EXPECT_EQ(without_secrets(Heartbeat{.message = "hunter22"}, rules, spec)->message, "***");
    const auto logs = without_secrets(
        AppendLogs{.entries = {{.message = "m hunter22", .data = R"(["hunter22"])"}}}, rules, spec);
    EXPECT_EQ(logs->entries.front().message, "m ***");
    EXPECT_EQ(logs->entries.front().data, R"(["***"])");
}

// ── values of settings ──

std::string without_settings(const std::vector<std::string>& values, std::string text) {
    Redactor::of_settings(values).clean(text);
    return text;
}

TEST(RedactorOfSettings, FindsValuesOfEightBytesAndMore) {
    EXPECT_EQ(without_settings({"12345678"}, "a 12345678 b"), "a *** b");
    EXPECT_EQ(without_settings({"1234567"}, "a 1234567 b"), "a 1234567 b");
    EXPECT_TRUE(Redactor::of_settings({"", "1234567"}).is_idle());
    EXPECT_TRUE(Redactor().is_idle());
}

TEST(RedactorOfSettings, AValueIsLookedForAsAWholeAndByItsLines) {
    EXPECT_EQ(without_settings({"production secret"}, "production and production secret"),
              "production and ***");
    EXPECT_EQ(without_settings({"-----BEGIN KEY-----\nMIIEabcdef\n-----END KEY-----\n"},
                               "-----BEGIN KEY----- MIIEabcdef"),
              "-----BEGIN KEY----- ***");
}

TEST(RedactorOfSettings, HasNoBoundOnHowMany) {
    std::vector<std::string> tokens;
    for (int i = 0; i < 1000; ++i) tokens.push_back("runner-token-" + std::to_string(100000 + i));
    const Redactor redactor = Redactor::of_settings(tokens);
    std::string text =
        "first runner-token-100000 last runner-token-100999 none runner-token-101000";
    redactor.clean(text);
    EXPECT_EQ(text, "first *** last *** none runner-token-101000");
}

TEST(Redactor, TellsWhereThereMayBeSomethingToClean) {
    const Redactor redactor({"hunter22"});
    EXPECT_TRUE(redactor.may_be_in("a hunter22"));
    EXPECT_TRUE(redactor.may_be_in(R"({"a":"h\u0075nter22"})"));
    EXPECT_TRUE(redactor.may_be_in("?a=h%75nter22"));
    EXPECT_FALSE(redactor.may_be_in("a hunter2"));
    EXPECT_FALSE(redactor.may_be_in(""));
    EXPECT_FALSE(Redactor().may_be_in("\\"));
}

TEST(WithoutSecrets, TakesTheEnginesOwnSecretsOutOfWhatAnyWorkerSays) {
    Rules rules;
    rules.own_secrets = Redactor::of_settings({"admin-token-1"});
    JobSpec spec;
    const auto report = without_secrets(
        Report{.result = R"({"t":"admin-token-1"})", .error_message = "no admin-token-1"}, rules,
        spec);
    ASSERT_TRUE(report);
    EXPECT_EQ(report->result, R"({"t":"***"})");
    EXPECT_EQ(report->error_message, "no ***");
    const auto logs = without_secrets(
        AppendLogs{.entries = {LogEntry{.message = "x"}, LogEntry{.message = "admin-token-1"}}},
        rules, spec);
    ASSERT_TRUE(logs);
    EXPECT_EQ(logs->entries[1].message, "***");
    EXPECT_FALSE(without_secrets(AppendLogs{.entries = {LogEntry{.message = "x"}}}, rules, spec));

    // In addition to those of the job.
    spec.payload = R"({"gitToken":"hunter22"})";
    const auto both = without_secrets(HandBack{.reason = "hunter22 admin-token-1"}, rules, spec);
    ASSERT_TRUE(both);
    EXPECT_EQ(both->reason, "*** ***");
}

}  // namespace redact_test
}  // namespace sluice
