#include "interfaces/http/server/server_options.hpp"

#include <algorithm>
#include <boost/asio/error.hpp>
#include <cerrno>
#include <stdexcept>

namespace sluice::http {
namespace {

namespace asio = boost::asio;

constexpr std::chrono::milliseconds sweep_period_max{500};
constexpr std::chrono::milliseconds sweep_period_min{10};

}  // namespace

asio::ip::address listening_address(const std::string& host) {
    if (host == "localhost") return asio::ip::address_v4::loopback();
    const bool bracketed = host.size() > 2 && host.front() == '[' && host.back() == ']';
    boost::system::error_code error;
    const auto address =
        asio::ip::make_address(bracketed ? host.substr(1, host.size() - 2) : host, error);
    if (error) {
        throw std::runtime_error("cannot listen on \"" + host +
                                 "\": it is not an IP address; write one, such as 127.0.0.1, "
                                 "0.0.0.0 or [::1], or localhost");
    }
    return address;
}

std::string remedy_for(const boost::system::error_code& error) {
    if (error == asio::error::address_in_use) {
        return "; another program listens there: stop it, or choose another port";
    }
    if (error == asio::error::access_denied) {
        return "; low ports need the capability CAP_NET_BIND_SERVICE: choose a port from 1024 on";
    }
    if (error.value() == EADDRNOTAVAIL) return "; no interface of this machine has this address";
    return "";
}

asio::ip::address plain_address(const asio::ip::address& address) {
    if (address.is_v6() && address.to_v6().is_v4_mapped()) {
        return asio::ip::make_address_v4(asio::ip::v4_mapped, address.to_v6());
    }
    return address;
}

GateRules gate_rules(const ServerOptions& options) {
    GateRules rules;
    rules.header_bytes = options.limits.header_bytes;
    rules.header_count = options.limits.header_count;
    rules.target_bytes = options.limits.target_bytes;
    for (const std::string& host : options.allowed_hosts) {
        const bool bare_v6 = std::count(host.begin(), host.end(), ':') > 1 && host.front() != '[';
        const auto name = normal_host(bare_v6 ? "[" + host + "]" : host);
        if (!name) {
            throw std::runtime_error("allowed_hosts: \"" + host +
                                     "\" is not a host name; write it without scheme and path, "
                                     "such as \"jobs.example.com\"");
        }
        rules.allowed_hosts.push_back(*name);
    }
    return rules;
}

std::chrono::milliseconds sweep_period(const Limits& limits) {
    const auto shortest = std::min({limits.header_time, limits.body_time, limits.idle_time,
                                    limits.write_time, limits.answer_wait, limits.stream_life});
    return std::clamp(shortest / 4, sweep_period_min, sweep_period_max);
}

}  // namespace sluice::http
