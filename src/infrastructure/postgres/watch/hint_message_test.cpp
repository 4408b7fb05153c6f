#include "infrastructure/postgres/watch/hint_message.hpp"

#include <gtest/gtest.h>

#include <limits>

namespace sluice::postgres {
namespace hint_message_test {

TEST(HintMessage, ComesBackAsItWasSent) {
    const HintMessage full{.owner = 42,
                           .due = from_micros(1'700'000'000'000'001),
                           .readied = {{std::numeric_limits<LaneId>::min(), 3}, {7, 1}},
                           .returned = {{std::numeric_limits<MeterId>::min(), 2}, {7, 4}},
                           .rules_changed = true};
    const HintMessage hello{.owner = std::numeric_limits<std::int64_t>::max()};

    for (const HintMessage& message : {full, hello}) {
        const std::vector<std::string> payloads = to_payloads(message);
        ASSERT_EQ(payloads.size(), 1u);
        EXPECT_EQ(parse_payload(payloads[0]), message) << payloads[0];
    }
}

TEST(HintMessage, IsSplitWhereNotifyWouldRefuseIt) {
    HintMessage message{.owner = std::numeric_limits<std::int64_t>::max(),
                        .due = from_micros(5),
                        .rules_changed = true};
    for (std::int64_t i = 0; i < 1000; ++i) {
        message.readied[std::numeric_limits<LaneId>::min() + i] = 2'000'000'000;
        message.returned[std::numeric_limits<MeterId>::min() + i] = 2'000'000'000;
    }

    HintMessage joined{.owner = message.owner, .due = message.due, .rules_changed = true};
    for (const std::string& payload : to_payloads(message)) {
        EXPECT_LT(payload.size(), 8000u);
        const std::optional<HintMessage> part = parse_payload(payload);
        ASSERT_TRUE(part);
        EXPECT_EQ(part->due, message.due);
        joined.readied.insert(part->readied.begin(), part->readied.end());
        joined.returned.insert(part->returned.begin(), part->returned.end());
    }
    EXPECT_EQ(joined, message);
}

TEST(HintMessage, IsNotReadOutOfAnythingElse) {
    for (const char* text :
         {"", "hello", "1", "1 ", "1 x", "1 - ", "1 - 2", "1 - 2:", "1 - 2:3 ", "1 - 2:99999999999",
          "1 - m", "1 - m2", "1 - rr", "1 -2:3", "99999999999999999999 -"}) {
        EXPECT_FALSE(parse_payload(text)) << text;
    }
}

}  // namespace hint_message_test
}  // namespace sluice::postgres
