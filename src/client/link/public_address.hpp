#pragma once

#include <string>

struct sockaddr;

namespace sluice::client {

// Whether a connection to this address leads to the open internet. All others are not public:
// loopback, private, link-local, shared (100.64/10), unique local, unspecified, multicast,
// broadcast, reserved and documentation addresses, IPv6 addresses that carry such an IPv4 address
// within (mapped, NAT64, 6to4, Teredo), and addresses of any other family.
bool is_public_address(const sockaddr& address);

// The address as people write it, without the port.
std::string address_text(const sockaddr& address);

}  // namespace sluice::client
