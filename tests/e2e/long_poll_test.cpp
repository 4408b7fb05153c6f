// Claims that wait: which of them is woken, when, and clients that do not wait to the end.
#include <atomic>
#include <deque>

#include "e2e/api.hpp"

namespace sluice::e2e {
namespace long_poll_test {

using Clock = std::chrono::steady_clock;

ON_EACH_STORE(LongPoll);

// A claim that waits at the engine. It is parked when this returns.
class Parked {
  public:
    Parked(Api& api, const Fields& fields) : client_(api.port()) {
        const auto waiting = [&] { return waiting_claims(api); };
        const int before = waiting();
        Fields all = fields;
        all.insert({{"wait_ms", 20'000}});
        client_.send(request_text("POST", "/api/v1/leases", api.claim_text(all)));
        EXPECT_TRUE(eventually([&] { return waiting() > before; })) << "the claim does not wait";
    }

    static int waiting_claims(Api& api) {
        const std::string page = api.http.get("/metrics").body;
        const std::string name = "\nsluice_waiting_claims ";
        return std::stoi(page.substr(page.find(name) + name.size()));
    }

    // The leases it is answered with; nothing when no answer comes in time.
    std::optional<List> answer(Millis patience = Millis(10'000)) {
        const auto response = client_.receive(patience);
        if (!response) return std::nullopt;
        return list(expect_ok(*response), "leases");
    }

    void hang_up() { client_.close(); }

  private:
    Client client_;
};

TEST_P(LongPoll, AParkedClaimIsWokenAtOnceByASubmitThatFits) {
    Parked parked(api, {});

    const auto start = Clock::now();
    const std::string id = api.submit_id();
    const auto leases = parked.answer();

    EXPECT_LT(since(start), Millis(500));
    ASSERT_TRUE(leases && leases->size() == 1);
    EXPECT_EQ(job_of(leases->front()), id);
}

TEST_P(LongPoll, IsNotWokenByASubmitThatDoesNotFit) {
    Parked parked(api, {{"types", List{"a"}}, {"labels", List{"x"}}});

    api.submit({{"type", "b"}});
    api.submit({{"type", "a"}, {"labels", List{"y"}}});
    api.submit({{"type", "a"}, {"tenant", "other"}});
    api.submit({{"type", "a"}, {"delay_ms", 3'600'000}});
    EXPECT_FALSE(parked.answer(Millis(100)));

    const std::string fits = api.submit_id({{"type", "a"}, {"labels", List{"x"}}});
    const auto leases = parked.answer();
    ASSERT_TRUE(leases && leases->size() == 1);
    EXPECT_EQ(job_of(leases->front()), fits);
}

TEST_P(LongPoll, EndsWithNothingWhenItsTimeIsOver) {
    const auto start = Clock::now();

    EXPECT_TRUE(api.claim({{"wait_ms", 200}}).empty());

    EXPECT_GE(since(start), Millis(195));
    EXPECT_LT(since(start), Millis(1500));
}

TEST_P(LongPoll, AnswersAtOnceWhenThereIsWork) {
    api.submit();
    const auto start = Clock::now();

    EXPECT_EQ(api.claim({{"wait_ms", 20'000}, {"limit", 10}}).size(), 1u);

    EXPECT_LT(since(start), Millis(2000)) << "it does not wait until its limit is full";
}

TEST_P(LongPoll, OneSubmitWakesExactlyOneOfAHundred) {
    std::deque<Parked> parked;
    for (int i = 0; i < 100; ++i) parked.emplace_back(api, Fields{});

    api.submit();
    int woken = 0;
    EXPECT_TRUE(parked.front().answer()) << "the one that waits longest";
    for (std::size_t i = 1; i < parked.size(); ++i) woken += parked[i].answer(Millis(0)) ? 1 : 0;
    EXPECT_EQ(woken, 0);

    api.submit_batch(std::vector<Fields>(99));
    for (std::size_t i = 1; i < parked.size(); ++i) {
        const auto leases = parked[i].answer();
        woken += leases && leases->size() == 1 ? 1 : 0;
    }
    EXPECT_EQ(woken, 99);
}

TEST_P(LongPoll, TwoJobsWakeBothClaimsEvenWhenTheFirstPrefersTheOther) {
    Parked any(api, {{"types", List{"a", "b"}}});
    Parked only_a(api, {{"types", List{"a"}}});

    api.submit_batch({{{"type", "a"}, {"priority", 0}}, {{"type", "b"}, {"priority", 10}}});

    const auto first = any.answer();
    ASSERT_TRUE(first && first->size() == 1);
    EXPECT_EQ(text(at(first->front(), "job"), "type"), "b");
    const auto second = only_a.answer(Millis(2000));
    ASSERT_TRUE(second) << "a job of type a is ready, and a claim for it waits";
    EXPECT_EQ(second->size(), 1u);
}

TEST_P(LongPoll, IsWokenWhenARetryBecomesDue) {
    api.submit({{"backoff", List{200}}});
    const Json first = api.claim_one();
    Parked parked(api, {});
    expect_ok(api.fail(first));

    const auto leases = parked.answer();

    ASSERT_TRUE(leases && leases->size() == 1);
    EXPECT_EQ(number(leases->front(), "attempt"), 2);
}

TEST_P(LongPoll, IsWokenWhenAKeyBecomesFree) {
    const std::string site = fresh_name("site");
    api.submit_batch({{{"site_id", site}}, {{"site_id", site}}});
    const Json first = api.claim_one();
    Parked parked(api, {});

    expect_ok(api.succeed(first));

    const auto leases = parked.answer();
    ASSERT_TRUE(leases);
    EXPECT_EQ(leases->size(), 1u);
}

TEST_P(LongPoll, AClaimThatWasWokenInVainGoesOnWaiting) {
    const std::string site = fresh_name("site");
    Parked one(api, {});
    Parked two(api, {});
    api.submit_batch({{{"site_id", site}}, {{"site_id", site}}});
    const auto first = one.answer();
    ASSERT_TRUE(first && first->size() == 1);
    EXPECT_FALSE(two.answer(Millis(100))) << "the key is taken";

    expect_ok(api.succeed(first->front()));

    const auto second = two.answer();
    ASSERT_TRUE(second);
    EXPECT_EQ(second->size(), 1u);
}

TEST_P(LongPoll, IsWokenWhenADependencySucceeds) {
    std::vector<Fields> jobs(2);
    jobs[1]["depends_on"] = List{"#0"};
    api.submit_batch(jobs);
    const Json first = api.claim_one();
    Parked parked(api, {});

    expect_ok(api.succeed(first));

    const auto leases = parked.answer();
    ASSERT_TRUE(leases);
    EXPECT_EQ(leases->size(), 1u);
}

TEST_P(LongPoll, IsWokenWhenALeaseIsLost) {
    api.submit();
    api.claim_one({{"lease_ms", 150}});
    Parked parked(api, {});

    const auto leases = parked.answer();

    ASSERT_TRUE(leases && leases->size() == 1);
    EXPECT_EQ(number(leases->front(), "attempt"), 2);
}

TEST_P(LongPoll, IsWokenByAReplayAndByAJobThatIsGivenBack) {
    const std::string id = api.submit_id();
    expect_ok(api.succeed(api.claim_one()));
    Parked parked(api, {});
    expect_ok(api.replay(id), 202);
    const auto leases = parked.answer();
    ASSERT_TRUE(leases && leases->size() == 1);

    Parked next(api, {});
    expect_ok(api.release(leases->front()));
    const auto again = next.answer();
    ASSERT_TRUE(again && again->size() == 1);
    EXPECT_EQ(number(again->front(), "attempt"), 1);
}

TEST_P(LongPoll, AClientThatHungUpTakesNothing) {
    Parked gone(api, {});
    const int before = Parked::waiting_claims(api);
    gone.hang_up();
    EXPECT_TRUE(eventually([&] { return Parked::waiting_claims(api) < before; }));

    const std::string id = api.submit_id();
    const Json lease = api.claim_one();

    EXPECT_EQ(job_of(lease), id);
    EXPECT_EQ(number(lease, "attempt"), 1);
    EXPECT_EQ(api.steps(id), (std::vector<std::string>{"submitted", "claimed"}));
}

TEST_P(LongPoll, AClientThatHangsUpWhileAJobComesLosesNothing) {
    for (int round = 0; round < 20; ++round) {
        Parked gone(api, {});
        gone.hang_up();
        const std::string id = api.submit_id();

        const List leases = api.claim({{"wait_ms", 5000}});

        ASSERT_EQ(leases.size(), 1u) << "given to a client that hung up";
        EXPECT_EQ(job_of(leases[0]), id);
        EXPECT_EQ(number(leases[0], "attempt"), 1);
        expect_ok(api.succeed(leases[0]));
    }
}

TEST_P(LongPoll, SendingTheNextRequestEarlyDoesNotDisturbTheWait) {
    Client client(engine.port());
    client.send(request_text("POST", "/api/v1/leases", api.claim_text({{"wait_ms", 10'000}})));
    client.send(request_text("GET", "/healthz", ""));
    api.submit();

    const auto leases = client.receive();
    const auto health = client.receive();

    ASSERT_TRUE(leases && health);
    EXPECT_EQ(list(parse(leases->body), "leases").size(), 1u);
    EXPECT_EQ(health->body, R"({"status":"ok"})");
}

}  // namespace long_poll_test
}  // namespace sluice::e2e
