#include "application/secrets/secret_names.hpp"

#include <gtest/gtest.h>

#include <random>

namespace sluice {
namespace secret_names_test {

bool is_secret(std::string_view name) {
    return SecretNames::usual().match(name);
}

bool may_be_secret(std::string_view name) {
    const std::string text = '"' + std::string(name);
    return SecretNames::usual().may_match_before(text.data(), text.data() + text.size());
}

TEST(SecretNames, AMarkIsFoundAsAWordOfAName) {
    for (const char* name : {"password",
                             "Password",
                             "PASSWORD",
                             "pass_word",
                             "registryPassword",
                             "registry_password",
                             "REGISTRY_PASSWORD",
                             "registry-password",
                             "registry.password",
                             "password2",
                             "password_1",
                             "passwordHash",
                             "gitToken",
                             "GIT_TOKEN",
                             "git-token",
                             "token",
                             "tokenValue",
                             "X-Auth-Token",
                             "accessToken",
                             "refresh_token",
                             "oauth2Token",
                             "APIToken",
                             "api_key",
                             "api-key",
                             "apiKey",
                             "APIKey",
                             "API_KEY",
                             "apikey",
                             "x-api-key",
                             "stripeApiKey",
                             "private_key",
                             "sshPrivateKey",
                             "secretAccessKey",
                             "AWS_SECRET_ACCESS_KEY",
                             "clientSecret",
                             "client_secret",
                             "secret",
                             "authorization",
                             "Proxy-Authorization",
                             "credentials",
                             "dockerCredential",
                             "dbPasswd",
                             "key_passphrase"}) {
        EXPECT_TRUE(is_secret(name)) << name;
        EXPECT_TRUE(may_be_secret(name)) << name;
    }
}

TEST(SecretNames, AMarkOfFiveLettersIsFoundAtTheEndOfAWord) {
    for (const char* name :
         {"PGPASSWORD", "dbpassword", "gittoken", "clientsecret", "myapikey", "mysecret_value"}) {
        EXPECT_TRUE(is_secret(name)) << name;
    }
    EXPECT_TRUE(SecretNames({"pin"}).match("user_pin"));
    EXPECT_FALSE(SecretNames({"pin"}).match("spin"));
}

TEST(SecretNames, OtherWordsThatBeginLikeAMarkAreNone) {
    for (const char* name : {"",           "_",         "tokens",     "tokenizer",
                             "max_tokens", "secretary", "secrets",    "passwordless",
                             "monkey",     "key",       "keyboard",   "api",
                             "private",    "access",    "accesskeys", "authorizations",
                             "pass",       "word",      "path",       "apik",
                             "ssword"}) {
        EXPECT_FALSE(is_secret(name)) << name;
    }
}

TEST(SecretNames, ANameThatTellsAboutASecretIsNone) {
    for (const char* name : {"token_count", "tokenType", "token-url", "password_file", "secretName",
                             "secret_ref", "tokenExpiresAt", "expires_token_in", "password_policy",
                             "credentials_path", "API_KEY_VERSION"}) {
        EXPECT_FALSE(is_secret(name)) << name;
    }
    // It must be the last word, and after the mark.
    EXPECT_TRUE(is_secret("file_password"));
    EXPECT_TRUE(is_secret("token_file_content"));
    EXPECT_TRUE(is_secret("secret_id"));
    EXPECT_TRUE(SecretNames({"token_count"}).match("token_count"));
}

TEST(SecretNames, MarksAreTheOperators) {
    const SecretNames names({"a/b", "Kennwort", "x", "пароль"});
    for (const char* name :
         {"a/b", "a_b", "kennwort", "meinKennwort", "x", "size-x", "пароль", "db_пароль"}) {
        EXPECT_TRUE(names.match(name)) << name;
    }
    for (const char* name : {"xy", "a", "password"}) EXPECT_FALSE(names.match(name)) << name;
    EXPECT_FALSE(SecretNames().match("password"));
    EXPECT_TRUE(SecretNames().empty());
    EXPECT_FALSE(SecretNames::is_mark("-_"));
    EXPECT_TRUE(SecretNames::is_mark("a"));
}

// Names made of words in random styles: the name of a secret is found in each style, and the quick
// check never misses one that the exact check finds.
class RandomNames {
  public:
    std::string any_letters() {
        constexpr std::string_view letters = "aAcCdDeEiIkKnNoOpPrRsStTwWyY_-.1\\";
        std::string name;
        for (std::size_t i = pick(24); i > 0; --i) name += letters[pick(letters.size())];
        return name;
    }

    std::string in_style(const std::vector<std::string>& words) {
        const std::size_t style = pick(5);
        std::string name;
        for (std::size_t i = 0; i < words.size(); ++i) {
            if (i > 0 && style < 3) name += style == 0 ? '_' : style == 1 ? '-' : '.';
            std::string word = words[i];
            if (style == 0 && upper_) {
                for (char& c : word) c = static_cast<char>(std::toupper(c));
            }
            if (style >= 3 && (i > 0 || style == 4)) {
                word[0] = static_cast<char>(std::toupper(word[0]));
            }
            name += word;
        }
        upper_ = !upper_;
        return name;
    }

    std::string plain_word() {
        static const std::vector<std::string> words{"git",  "user", "build", "app",  "node",
                                                    "path", "step", "count", "name", "tokenizer"};
        return words[pick(words.size())];
    }

    std::size_t pick(std::size_t count) { return random_() % count; }

  private:
    std::mt19937 random_{20261116};
    bool upper_ = false;
};

TEST(SecretNames, TheQuickLookNeverMissesAName) {
    RandomNames random;
    int found = 0;
    for (int i = 0; i < 200'000; ++i) {
        const std::string name = random.any_letters();
        if (!is_secret(name)) continue;
        ++found;
        EXPECT_TRUE(may_be_secret(name)) << name;
    }
    // Whole marks are rare among random letters, so some are put in.
    for (int i = 0; i < 20'000; ++i) {
        std::string name = random.any_letters();
        const auto& marks = SecretNames::usual_marks();
        name.insert(random.pick(name.size() + 1), marks[random.pick(marks.size())]);
        if (!is_secret(name)) continue;
        ++found;
        EXPECT_TRUE(may_be_secret(name)) << name;
    }
    EXPECT_GT(found, 1000);
}

TEST(SecretNames, TheStyleOfANameDoesNotMatter) {
    RandomNames random;
    for (int i = 0; i < 20'000; ++i) {
        std::vector<std::string> words;
        for (std::size_t k = random.pick(3); k > 0; --k) words.push_back(random.plain_word());
        const std::string plain =
            random.in_style(words.empty() ? std::vector<std::string>{"node"} : words);
        EXPECT_FALSE(is_secret(plain)) << plain;
        const std::vector<std::vector<std::string>> marks{
            {"password"}, {"token"}, {"api", "key"}, {"private", "key"}, {"secret"}};
        const auto& mark = marks[random.pick(marks.size())];
        words.insert(words.begin() + static_cast<std::ptrdiff_t>(random.pick(words.size() + 1)),
                     mark.begin(), mark.end());
        if (words.back() == "count" || words.back() == "name" || words.back() == "path") continue;
        const std::string name = random.in_style(words);
        EXPECT_TRUE(is_secret(name)) << name;
        EXPECT_TRUE(may_be_secret(name)) << name;
    }
}

}  // namespace secret_names_test
}  // namespace sluice
