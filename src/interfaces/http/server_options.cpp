#include "interfaces/http/server_options.hpp"

#include <algorithm>
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
    if (error) throw std::runtime_error("cannot listen on '" + host + "': not an IP address");
    return address;
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
        if (!name) throw std::runtime_error("not a host name: '" + host + "'");
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
