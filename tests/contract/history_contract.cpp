#include "contract/store_contract.hpp"
#include "json/json_values.hpp"

// HistoryStore and IdempotencyStore.
namespace sluice {
namespace history_contract {

// ── events and log lines ──

TEST_P(StoreContract, AppendKeepsEveryFieldOfAnEvent) {
    put(spec(1));
    Event full = event(1, 1);
    full.step = Step::lease_expired;
    full.from = JobState::running;
    full.to = JobState::queued;
    full.attempt = 3;
    full.lease = LeaseToken{INT64_MAX};
    full.actor = "worker:" + unusual_text;
    full.at = from_micros(-1);
    full.log_seq = 5'000'000'000;
    full.detail = "{\"text\":" + json_string(unusual_text) + "}";
    const Event sparse = event(1, 2);

    commit([&](Session& session) { session.history().append(std::vector<Event>{full, sparse}); });

    EXPECT_EQ(store->reader()->events(JobId{1}, 0, 10), (std::vector<Event>{full, sparse}));
}

TEST_P(StoreContract, AppendKeepsEveryStepAndState) {
    put(spec(1));
    std::vector<Event> events;
    for (const Transition& row : transitions) {
        Event made = event(1, std::ssize(events) + 1);
        made.step = row.step;
        made.from = row.from;
        made.to = row.to;
        events.push_back(made);
    }

    commit([&](Session& session) { session.history().append(events); });

    EXPECT_EQ(store->reader()->events(JobId{1}, 0, 100), events);
}

TEST_P(StoreContract, AppendKeepsEveryFieldOfALogLine) {
    put(spec(1));
    LogLine full = log_line(1, 1);
    full.attempt = 7;
    full.level = LogLevel::error;
    full.message = unusual_text;
    full.data = "[" + json_string(unusual_text) + "]";
    full.at = from_micros(-1);
    full.event_seq = 5'000'000'000;
    LogLine empty = log_line(1, 2);
    empty.message = "";
    empty.level = LogLevel::warn;

    commit([&](Session& session) { session.history().append(std::vector<LogLine>{full, empty}); });

    EXPECT_EQ(store->reader()->logs(JobId{1}, 0, 10), (std::vector<LogLine>{full, empty}));
}

TEST_P(StoreContract, AppendAddsAfterWhatIsThereAndChangesNothingOfIt) {
    put(spec(1));
    commit([&](Session& session) {
        session.history().append(std::vector<Event>{event(1, 1)});
        session.history().append(std::vector<LogLine>{log_line(1, 1)});
    });

    commit([&](Session& session) {
        session.history().append(std::vector<Event>{event(1, 2)});
        session.history().append(std::vector<LogLine>{log_line(1, 2)});
    });
    finish(ended(open(*find(JobId{1})), JobState::failed, at(5)));

    EXPECT_EQ(store->reader()->events(JobId{1}, 0, 10),
              (std::vector<Event>{event(1, 1), event(1, 2)}));
    EXPECT_EQ(store->reader()->logs(JobId{1}, 0, 10),
              (std::vector<LogLine>{log_line(1, 1), log_line(1, 2)}));
}

TEST_P(StoreContract, AppendedHistoryIsSeenInItsSession) {
    put(spec(1));

    roll_back([&](Session& session) {
        session.history().append(std::vector<Event>{event(1, 1)});
        session.history().append(std::vector<LogLine>{log_line(1, 1)});
        EXPECT_EQ(session.reader().events(JobId{1}, 0, 10), std::vector<Event>{event(1, 1)});
        EXPECT_EQ(session.reader().logs(JobId{1}, 0, 10), std::vector<LogLine>{log_line(1, 1)});
    });
}

// ── idempotency ──

IdempotentRequest request(const std::string& tenant, const std::string& key, int seconds) {
    return {.tenant = tenant,
            .key = key,
            .body_digest = digest(seconds),
            .jobs = {JobId{1}},
            .at = at(seconds)};
}

std::optional<IdempotentRequest> found(Store& store, const std::string& tenant,
                                       const std::string& key) {
    return store.begin()->idempotency().find(tenant, key);
}

TEST_P(StoreContract, ARequestIsFoundByItsTenantAndKeyWithEveryField) {
    IdempotentRequest full = request("tenant " + unusual_text, "key " + unusual_text, 1);
    full.jobs = {JobId{INT64_MAX}, JobId{1}, JobId{2}};
    IdempotentRequest sparse = request("", "", 2);
    sparse.jobs = {};

    commit([&](Session& session) {
        session.idempotency().put(full);
        session.idempotency().put(sparse);
        EXPECT_EQ(session.idempotency().find(full.tenant, full.key), full);
    });

    EXPECT_EQ(found(*store, full.tenant, full.key), full);
    EXPECT_EQ(found(*store, "", ""), sparse);
    EXPECT_EQ(found(*store, full.tenant, "other"), std::nullopt);
    EXPECT_EQ(found(*store, "other", full.key), std::nullopt);
}

TEST_P(StoreContract, ARequestTakesThePlaceOfWhatWasThere) {
    commit([&](Session& session) { session.idempotency().put(request("t", "k", 1)); });
    commit([&](Session& session) { session.idempotency().put(request("t", "k", 2)); });

    EXPECT_EQ(found(*store, "t", "k"), request("t", "k", 2));
    commit([&](Session& session) {
        EXPECT_EQ(session.idempotency().forget_before(at(2), 10), 0);
        EXPECT_EQ(session.idempotency().forget_before(at(3), 10), 1);
    });
}

TEST_P(StoreContract, ForgetBeforeForgetsWhatWasPutBeforeTheTimeAndSaysHowMuch) {
    commit([&](Session& session) {
        for (const int second : {3, 1, 2}) {
            session.idempotency().put(request("t", std::to_string(second), second));
        }
    });

    commit([&](Session& session) { EXPECT_EQ(session.idempotency().forget_before(at(3), 10), 2); });

    EXPECT_EQ(found(*store, "t", "1"), std::nullopt);
    EXPECT_EQ(found(*store, "t", "2"), std::nullopt);
    EXPECT_EQ(found(*store, "t", "3"), request("t", "3", 3));
}

TEST_P(StoreContract, ForgetBeforeForgetsNoMoreThanTheLimit) {
    commit([&](Session& session) {
        for (int i = 0; i < 5; ++i) session.idempotency().put(request("t", std::to_string(i), i));
    });

    commit([&](Session& session) {
        EXPECT_EQ(session.idempotency().forget_before(at(9), 3), 3);
        EXPECT_EQ(session.idempotency().forget_before(at(9), 3), 2);
        EXPECT_EQ(session.idempotency().forget_before(at(9), 3), 0);
    });
}

}  // namespace history_contract
}  // namespace sluice
