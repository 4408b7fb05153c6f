#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <string_view>

namespace sluice {

// Tells the service manager that started this process its state, as sd_notify(3) does: one datagram
// to the socket that NOTIFY_SOCKET names. Without it, and when no manager listens, nothing happens.
class ServiceManager {
  public:
    // The manager that the environment names. Removes the variables, since it is for this process
    // alone and not for the commands that it starts.
    static ServiceManager from_environment();

    explicit ServiceManager(std::string socket,
                            std::optional<std::chrono::microseconds> watchdog = std::nullopt)
        : socket_(std::move(socket)), watchdog_(watchdog) {}

    void ready(std::string_view status) const;  // serving; also when a reload is over
    void reloading() const;
    void stopping() const;

    // How often the manager wants to hear that the process is alive: half of the time after which
    // it gives it up. Nothing when it does not.
    std::optional<std::chrono::microseconds> alive_every() const;
    void alive() const;

  private:
    void tell(std::string_view text) const;

    std::string socket_;  // empty: there is no manager
    std::optional<std::chrono::microseconds> watchdog_;
};

}  // namespace sluice
