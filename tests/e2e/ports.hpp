#pragma once

#include <cstdint>

// Ports of the loopback address, for servers that tests start.
namespace sluice::e2e {

// A port that is free now, and that the system does not give to programs that ask for any port:
// those are higher.
std::uint16_t free_port();

bool is_listening(std::uint16_t port);

}  // namespace sluice::e2e
