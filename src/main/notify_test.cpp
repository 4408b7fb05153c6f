#include "main/notify.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <array>
#include <cstdlib>
#include <cstring>

namespace sluice {
namespace notify_test {

using namespace std::chrono_literals;

// A service manager's end: a socket with a name that is no file.
class Listener {
  public:
    Listener() : name_(fmt::format("@sluice-notify-test-{}-{}", getpid(), ++count_)) {
        descriptor_ = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
        sockaddr_un address{};
        address.sun_family = AF_UNIX;
        std::memcpy(address.sun_path + 1, name_.data() + 1, name_.size() - 1);
        const auto length = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + name_.size());
        EXPECT_EQ(bind(descriptor_, reinterpret_cast<sockaddr*>(&address), length), 0);
    }
    ~Listener() { close(descriptor_); }
    Listener(const Listener&) = delete;
    Listener& operator=(const Listener&) = delete;

    const std::string& name() const { return name_; }

    // The next message; empty when none is there.
    std::string next() const {
        std::array<char, 512> buffer{};
        const auto size = recv(descriptor_, buffer.data(), buffer.size(), MSG_DONTWAIT);
        return size < 0 ? "" : std::string(buffer.data(), static_cast<std::size_t>(size));
    }

  private:
    static inline int count_ = 0;
    std::string name_;
    int descriptor_ = -1;
};

TEST(ServiceManager, HearsEachStateAsOneMessage) {
    const Listener listener;
    const ServiceManager manager(listener.name(), 2s);
    manager.ready("serving");
    EXPECT_EQ(listener.next(), "READY=1\nSTATUS=serving");
    manager.reloading();
    EXPECT_TRUE(listener.next().starts_with("RELOADING=1\nMONOTONIC_USEC="));
    manager.alive();
    EXPECT_EQ(listener.next(), "WATCHDOG=1");
    manager.stopping();
    EXPECT_EQ(listener.next(), "STOPPING=1\nSTATUS=stopping");
    EXPECT_EQ(manager.alive_every(), 1s);
}

TEST(ServiceManager, WithoutOneNothingHappens) {
    const ServiceManager manager("");
    manager.ready("serving");
    EXPECT_FALSE(ServiceManager("", 2s).alive_every());
    ServiceManager("/nowhere/at/all").stopping();
    ServiceManager(std::string(300, '/')).stopping();
    ServiceManager("relative").stopping();
}

TEST(ServiceManager, TakesItsPlaceOutOfTheEnvironment) {
    const Listener listener;
    setenv("NOTIFY_SOCKET", listener.name().c_str(), 1);
    setenv("WATCHDOG_USEC", "3000000", 1);
    setenv("WATCHDOG_PID", fmt::format("{}", getpid()).c_str(), 1);
    const ServiceManager manager = ServiceManager::from_environment();
    EXPECT_EQ(manager.alive_every(), 1500ms);
    EXPECT_EQ(std::getenv("NOTIFY_SOCKET"), nullptr);
    EXPECT_EQ(std::getenv("WATCHDOG_USEC"), nullptr);
    manager.alive();
    EXPECT_EQ(listener.next(), "WATCHDOG=1");
}

TEST(ServiceManager, AWatchdogForAnotherProcessIsNotOurs) {
    setenv("NOTIFY_SOCKET", "@x", 1);
    setenv("WATCHDOG_USEC", "3000000", 1);
    setenv("WATCHDOG_PID", "1", 1);
    EXPECT_FALSE(ServiceManager::from_environment().alive_every());
}

}  // namespace notify_test
}  // namespace sluice
