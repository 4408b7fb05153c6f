#include "infrastructure/jwt/key_watch.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "infrastructure/jwt/cjose_jwt_verifier.hpp"
#include "infrastructure/jwt/jwks_fetch.hpp"
#include "infrastructure/system/boot_clock.hpp"
#include "support/jwt_issuer.hpp"
#include "support/scripted_server.hpp"

namespace sluice {
namespace key_watch_test {

using namespace std::chrono_literals;
using client::ScriptedServer;

constexpr KeyWatchTimes quick{
    .file_check = 20ms, .refresh = 1h, .refresh_min = 50ms, .fetch_timeout = 9s};

// Waits until the condition holds, for ten seconds at most.
template <class Condition>
bool eventually(const Condition& condition) {
    for (int i = 0; i < 2000; ++i) {
        if (condition()) return true;
        std::this_thread::sleep_for(5ms);
    }
    return false;
}

const JwtIssuer& issuer() {
    static const JwtIssuer one;
    return one;
}

std::string jwks_of(const std::vector<std::string>& ids) {
    std::string keys;
    for (const std::string& id : ids) {
        keys += keys.empty() ? "" : ",";
        keys += json_text(with(issuer().key(id).public_jwk(), {{"kid", '"' + id + '"'}}));
    }
    return "{\"keys\":[" + keys + "]}";
}

std::string answer(const std::string& body, const std::string& status = "200 OK") {
    return fmt::format(
        "HTTP/1.1 {}\r\nContent-Length: {}\r\nLocation: /other\r\nConnection: close\r\n\r\n{}",
        status, body.size(), body);
}

// The server's present answer; tests change it.
class Answer {
  public:
    explicit Answer(std::string bytes) : bytes_(std::move(bytes)) {}
    void set(std::string bytes) {
        const std::lock_guard lock(mutex_);
        bytes_ = std::move(bytes);
    }
    std::string get() const {
        const std::lock_guard lock(mutex_);
        return bytes_;
    }

  private:
    mutable std::mutex mutex_;
    std::string bytes_;
};

class KeyFileTest : public testing::Test {
  protected:
    ~KeyFileTest() override { std::filesystem::remove(path); }

    void write(const std::string& text) const { std::ofstream(path, std::ios::binary) << text; }

    std::string path =
        std::filesystem::temp_directory_path() / ("sluice-keys-" + std::to_string(getpid()));
};

TEST_F(KeyFileTest, IsReadAgainWhenItHasChanged) {
    write(jwks_of({"ec-256"}));
    const auto watch = KeyWatch::open(path, quick);
    ASSERT_TRUE(watch);
    EXPECT_NE((*watch)->keys()->find("ec-256"), nullptr);

    write(jwks_of({"ec-384", "ec-521"}));
    EXPECT_TRUE(eventually([&] { return (*watch)->keys()->find("ec-521") != nullptr; }));
    EXPECT_EQ((*watch)->keys()->find("ec-256"), nullptr);
}

TEST_F(KeyFileTest, KeepsItsKeysWhileTheFileIsGoneOrBroken) {
    write(jwks_of({"ec-256"}));
    const auto watch = KeyWatch::open(path, quick);
    const auto keys = (*watch)->keys();

    write("{\"keys\":[");
    std::this_thread::sleep_for(100ms);
    EXPECT_EQ((*watch)->keys(), keys);
    std::filesystem::remove(path);
    std::this_thread::sleep_for(100ms);
    EXPECT_EQ((*watch)->keys(), keys);
    write(jwks_of({"ec-384"}));
    EXPECT_TRUE(eventually([&] { return (*watch)->keys()->find("ec-384") != nullptr; }));
}

TEST_F(KeyFileTest, IsReadAtOnceWhenAskedTo) {
    write(jwks_of({"ec-256"}));
    const auto watch = KeyWatch::open(path, {.file_check = 1h});
    write(jwks_of({"ec-384"}));
    (*watch)->reload();
    EXPECT_TRUE(eventually([&] { return (*watch)->keys()->find("ec-384") != nullptr; }));
}

TEST_F(KeyFileTest, MustHaveKeysAtTheStart) {
    EXPECT_FALSE(KeyWatch::open(path, quick));
    write("{\"keys\":[]}");
    EXPECT_EQ(KeyWatch::open(path, quick).error().message,
              path + ": has no usable key: \"keys\" is empty; RSA and EC public keys are used");
    write(jwks_of({"ec-256"}) + std::string(jwks_bytes_max, ' '));
    EXPECT_EQ(KeyWatch::open(path, quick).error().message, path + ": is larger than 262144 bytes");
    EXPECT_FALSE(KeyWatch::open(std::filesystem::temp_directory_path(), quick));
}

// A token that was accepted once is not accepted for ever.
TEST_F(KeyFileTest, ATokenOfAKeyThatIsGoneIsRefused) {
    write(jwks_of({"ec-256"}));
    const auto verifier = CjoseJwtVerifier::open(
        {.issuer = JwtIssuer::name, .audience = JwtIssuer::audience, .jwks = path}, quick);
    const Timestamp now = from_micros(1'800'000'000'000'000);
    const std::string token = issuer().token(now);
    EXPECT_TRUE((*verifier)->verify(token, now));
    write(jwks_of({"ec-384"}));
    EXPECT_TRUE(eventually([&] { return !(*verifier)->verify(token, now); }));
}

TEST(KeyUrl, IsFetchedOnAThreadOfItsOwn) {
    const std::string keys = jwks_of({"ec-256"});  // first: they take long to make
    ScriptedServer server([&](const std::string&) { return answer(keys); });
    const auto watch = KeyWatch::open(server.url("/jwks"), quick);
    ASSERT_TRUE(watch);
    EXPECT_TRUE(eventually([&] { return (*watch)->keys() != nullptr; }));
    EXPECT_TRUE(server.requests().front().starts_with("GET /jwks HTTP/1.1\r\n"));
}

TEST(KeyUrl, IsAskedAgainForAKeyThatIsNotKnownButNotAllTheTime) {
    Answer jwks(answer(jwks_of({"ec-384"})));
    ScriptedServer server([&](const std::string&) { return jwks.get(); });
    KeyWatchTimes times = quick;
    times.refresh_min = 300ms;
    const auto verifier = CjoseJwtVerifier::open(
        {.issuer = JwtIssuer::name, .audience = JwtIssuer::audience, .jwks = server.url()}, times);
    ASSERT_TRUE(eventually([&] { return (*verifier)->has_keys(); }));
    jwks.set(answer(jwks_of({"ec-256"})));

    const Timestamp now = from_micros(1'800'000'000'000'000);
    const std::string token = issuer().token(now);
    for (int i = 0; i < 100; ++i) EXPECT_FALSE((*verifier)->verify(token, now));
    EXPECT_EQ(server.connections(), 1);
    EXPECT_TRUE(eventually([&] { return (*verifier)->verify(token, now).has_value(); }));
    EXPECT_EQ(server.connections(), 2);
}

TEST(KeyUrl, KeepsItsKeysWhenTheIssuerIsBroken) {
    Answer reply(answer(jwks_of({"ec-256"})));
    ScriptedServer server([&](const std::string&) { return reply.get(); });
    const auto watch = KeyWatch::open(server.url(), quick);
    ASSERT_TRUE(eventually([&] { return (*watch)->keys() != nullptr; }));
    const auto keys = (*watch)->keys();
    const std::string others = jwks_of({"ec-384"});
    for (const std::string& broken :
         {answer("oops", "500 Internal Server Error"), answer(others, "404 Not Found"),
          answer(others, "302 Found"), answer(""), answer("{}"), std::string("nonsense\r\n\r\n"),
          answer(others + std::string(jwks_bytes_max, ' '))}) {
        const int before = server.connections();
        reply.set(broken);
        (*watch)->reload();
        ASSERT_TRUE(eventually([&] { return server.connections() > before; }));
        EXPECT_EQ((*watch)->keys(), keys);
    }
    reply.set(answer(others));
    (*watch)->reload();
    EXPECT_TRUE(eventually([&] { return (*watch)->keys()->find("ec-384") != nullptr; }));
}

TEST(KeyUrl, IsFetchedAgainWhenToldToWhileAnOlderAnswerIsOnItsWay) {
    Answer reply(answer(jwks_of({"ec-256"})));
    std::atomic<int> asked = 0;
    std::atomic<bool> may_leave = false;
    ScriptedServer server([&](const std::string&) {
        std::string made = reply.get();
        ++asked;
        eventually([&] { return may_leave.load(); });
        return made;
    });
    KeyWatchTimes patient = quick;
    patient.fetch_timeout = 60s;
    const auto watch = KeyWatch::open(server.url(), patient);
    ASSERT_TRUE(eventually([&] { return asked == 1; }));

    reply.set(answer(jwks_of({"ec-384"})));
    (*watch)->reload();
    may_leave = true;

    EXPECT_TRUE(eventually([&] {
        const auto keys = (*watch)->keys();
        return keys && keys->find("ec-384") != nullptr;
    }));
}

TEST(KeyUrl, EndsAtOnceWhileItWaitsForAnAnswer) {
    ScriptedServer silent([](const std::string&) { return std::string(); });
    KeyWatchTimes patient = quick;
    patient.fetch_timeout = 60s;
    auto watch = KeyWatch::open(silent.url(), patient);
    ASSERT_TRUE(eventually([&] { return silent.connections() == 1; }));
    const Duration begin = since_boot();
    watch->reset();
    EXPECT_LT(since_boot() - begin, 5s);
}

TEST(KeyUrl, IsGivenUpWhenItTakesTooLong) {
    ScriptedServer silent([](const std::string&) { return std::string(); });
    const std::atomic<bool> stop = false;
    const auto body = fetch_jwks(silent.url(), 100ms, stop);
    ASSERT_FALSE(body);
    EXPECT_NE(body.error().message.find("timed out"), std::string::npos) << body.error().message;
}

}  // namespace key_watch_test
}  // namespace sluice
