#include <gtest/gtest.h>
#include <poll.h>

#include <thread>

#include "sluice/worker.hpp"

namespace sluice::client {
namespace cancel_token_test {

bool is_readable(int descriptor) {
    pollfd polled{.fd = descriptor, .events = POLLIN, .revents = 0};
    return ::poll(&polled, 1, 0) == 1;
}

TEST(CancelToken, IsQuietUntilItIsRequested) {
    CancelToken token;

    EXPECT_FALSE(token.requested());
    EXPECT_EQ(token.reason(), StopReason::none);
    EXPECT_FALSE(token.wait_for(Millis(1)));
    EXPECT_FALSE(is_readable(token.descriptor()));
}

TEST(CancelToken, KeepsTheFirstReasonUnlessTheLeaseIsLost) {
    CancelToken token;

    token.request(StopReason::none);
    EXPECT_FALSE(token.requested());
    token.request(StopReason::deadline);
    token.request(StopReason::canceled);
    EXPECT_EQ(token.reason(), StopReason::deadline);
    token.request(StopReason::lease_lost);
    token.request(StopReason::shutdown);
    EXPECT_EQ(token.reason(), StopReason::lease_lost);
}

TEST(CancelToken, WakesWhoWaits) {
    CancelToken token;
    const auto start = std::chrono::steady_clock::now();
    std::thread other([&] {
        std::this_thread::sleep_for(Millis(10));
        token.request(StopReason::canceled);
    });

    EXPECT_TRUE(token.wait_for(Millis(10'000)));

    other.join();
    EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds(5));
}

TEST(CancelToken, ItsDescriptorIsReadableWheneverItWasMade) {
    CancelToken early;
    const int descriptor = early.descriptor();
    CancelToken late;

    early.request(StopReason::canceled);
    late.request(StopReason::canceled);

    EXPECT_TRUE(is_readable(descriptor));
    EXPECT_TRUE(is_readable(late.descriptor()));
    EXPECT_EQ(early.descriptor(), descriptor);
}

}  // namespace cancel_token_test
}  // namespace sluice::client
