#pragma once

#include <memory>
#include <string>
#include <vector>

#include "e2e/process.hpp"

namespace sluice::e2e {

// How clients reach the proxy in a test.
enum class ProxyEntry { tls, plain };

// A proxy in front of an engine, with its example from docs/proxy, in which only names, ports and
// paths are changed.
class Proxy {
  public:
    // `program` is "nginx" or "haproxy". Throws when it does not come up.
    Proxy(const std::string& program, std::uint16_t engine_port, ProxyEntry entry);

    static bool is_installed(const std::string& program);

    std::uint16_t port() const { return port_; }
    const std::string& ca_file() const { return ca_file_; }

  private:
    std::string nginx_config(std::string text, std::uint16_t engine_port, ProxyEntry entry) const;
    std::string haproxy_config(std::string text, std::uint16_t engine_port, ProxyEntry entry) const;
    std::vector<std::string> command(const std::string& program, std::uint16_t engine_port,
                                     ProxyEntry entry) const;
    bool has_come_up() const;

    TempFolder folder_;
    std::uint16_t port_ = 0;
    std::string ca_file_;
    std::unique_ptr<Process> process_;
};

}  // namespace sluice::e2e
