// The engine under a service manager: it tells when it serves, when it stops, and that it is alive.
#include <gtest/gtest.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <array>
#include <csignal>
#include <cstdlib>
#include <cstring>

#include "e2e/engine.hpp"
#include "e2e/http_client.hpp"

namespace sluice::e2e {
namespace service_manager_test {

// The socket that a manager gives to the process that it starts.
class NotifySocket {
  public:
    NotifySocket() {
        descriptor_ = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
        sockaddr_un address{};
        address.sun_family = AF_UNIX;
        std::strncpy(address.sun_path, path_.c_str(), sizeof address.sun_path - 1);
        EXPECT_EQ(bind(descriptor_, reinterpret_cast<sockaddr*>(&address), sizeof address), 0);
        setenv("NOTIFY_SOCKET", path_.c_str(), 1);
    }
    ~NotifySocket() {
        unsetenv("NOTIFY_SOCKET");
        unsetenv("WATCHDOG_USEC");
        close(descriptor_);
    }
    NotifySocket(const NotifySocket&) = delete;
    NotifySocket& operator=(const NotifySocket&) = delete;

    // The next message; empty when none comes in time.
    std::string next(Millis patience = Millis(10'000)) const {
        pollfd waiting{.fd = descriptor_, .events = POLLIN, .revents = 0};
        if (poll(&waiting, 1, static_cast<int>(patience.count())) != 1) return "";
        std::array<char, 512> buffer{};
        const auto size = recv(descriptor_, buffer.data(), buffer.size(), 0);
        return size < 0 ? "" : std::string(buffer.data(), static_cast<std::size_t>(size));
    }

  private:
    TempFolder folder_;
    std::string path_ = (folder_.path() / "notify").string();
    int descriptor_ = -1;
};

TEST(ServiceManager, HearsWhenTheEngineServesAndWhenItStops) {
    const NotifySocket manager;
    Engine engine("memory:");
    const std::string ready = manager.next();
    EXPECT_TRUE(ready.starts_with("READY=1\nSTATUS=serving http://127.0.0.1:")) << ready;
    EXPECT_EQ(Client(engine.port()).get("/readyz").status, 200);
    EXPECT_EQ(manager.next(Millis(0)), "") << "without a watchdog nothing more is said";
    EXPECT_EQ(engine.stop(), 0);
    EXPECT_EQ(manager.next(), "STOPPING=1\nSTATUS=stopping");
}

TEST(ServiceManager, HearsThatTheEngineIsAliveAsOftenAsItAsksFor) {
    const NotifySocket manager;
    setenv("WATCHDOG_USEC", "200000", 1);
    Engine engine("memory:");
    EXPECT_TRUE(manager.next().starts_with("READY=1"));
    for (int i = 0; i < 3; ++i) EXPECT_EQ(manager.next(), "WATCHDOG=1");
    engine.process().send_signal(SIGSTOP);
    while (!manager.next(Millis(500)).empty()) {
    }
    EXPECT_EQ(manager.next(Millis(500)), "") << "who is stuck says nothing";
    engine.process().send_signal(SIGCONT);
    EXPECT_EQ(manager.next(), "WATCHDOG=1");
}

}  // namespace service_manager_test
}  // namespace sluice::e2e
