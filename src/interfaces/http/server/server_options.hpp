#pragma once

#include <boost/asio/ip/address.hpp>
#include <chrono>
#include <string>

#include "interfaces/http/message/framing_gate.hpp"
#include "interfaces/http/server/server.hpp"

// The meaning of a server's options. These throw std::runtime_error, which names the option, when
// one has no meaning.
namespace sluice::http {

boost::asio::ip::address listening_address(const std::string& host);

// The advice about this failure to listen, to be put behind its message; may be empty.
std::string remedy_for(const boost::system::error_code& error);

// An IPv4 peer of a dual-stack socket looks like any other IPv4 peer.
boost::asio::ip::address plain_address(const boost::asio::ip::address& address);

GateRules gate_rules(const ServerOptions& options);

// Often enough that a timeout is kept to within a quarter of itself, or half a second.
std::chrono::milliseconds sweep_period(const Limits& limits);

}  // namespace sluice::http
