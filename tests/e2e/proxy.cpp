#include "e2e/proxy.hpp"

#include <filesystem>
#include <fstream>
#include <iterator>
#include <stdexcept>

#include "e2e/ports.hpp"
#include "support/test_certificate.hpp"

namespace sluice::e2e {
namespace {

const std::string engine_address = "127.0.0.1:7070";

std::string read_file(const std::filesystem::path& path) {
    std::ifstream file(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(file), {}};
}

// Each of these must be there, so that the example and its test do not drift apart.
void replace(std::string& text, const std::string& what, const std::string& by) {
    const std::size_t at = text.find(what);
    if (at == std::string::npos) throw std::runtime_error("the example has no \"" + what + '"');
    text.replace(at, what.size(), by);
}

std::string path_of(const std::string& program) {
    for (const char* folder : {"/usr/sbin/", "/usr/bin/", "/usr/local/sbin/"}) {
        if (::access((folder + program).c_str(), X_OK) == 0) return folder + program;
    }
    return {};
}

}  // namespace

bool Proxy::is_installed(const std::string& program) {
    return !path_of(program).empty();
}

std::string Proxy::nginx_config(std::string text, std::uint16_t engine_port,
                                ProxyEntry entry) const {
    const std::string folder = folder_.path().string();
    const std::string listen = "listen 127.0.0.1:" + std::to_string(port_);
    replace(text, "worker_processes auto;", "worker_processes 1;");
    replace(text, "/run/nginx.pid", folder + "/nginx.pid");
    replace(text, "/var/log/nginx/error.log", folder + "/error.log");
    replace(text, "access_log /var/log/nginx/access.log;",
            "access_log off; client_body_temp_path " + folder + "/body; proxy_temp_path " + folder +
                "/proxy; fastcgi_temp_path " + folder + "/fastcgi; uwsgi_temp_path " + folder +
                "/uwsgi; scgi_temp_path " + folder + "/scgi;");
    replace(text, engine_address, "127.0.0.1:" + std::to_string(engine_port));
    replace(text, "listen 443 ssl", entry == ProxyEntry::tls ? listen + " ssl" : listen);
    replace(text, "/etc/sluice/tls/server.pem", ca_file_);
    replace(text, "/etc/sluice/tls/server.key", folder + "/server.key");
    return text;
}

std::string Proxy::haproxy_config(std::string text, std::uint16_t engine_port,
                                  ProxyEntry entry) const {
    const std::string folder = folder_.path().string();
    std::ofstream(folder + "/both.pem") << read_file(ca_file_) << read_file(folder + "/server.key");
    const std::string bind = "bind 127.0.0.1:" + std::to_string(port_);
    replace(text, engine_address, "127.0.0.1:" + std::to_string(engine_port));
    if (entry == ProxyEntry::tls) {
        replace(text, "bind :443", bind);
        replace(text, "/etc/sluice/tls/server-and-key.pem", folder + "/both.pem");
    } else {
        replace(text, "bind :443 ssl crt /etc/sluice/tls/server-and-key.pem alpn http/1.1", bind);
    }
    return text;
}

std::vector<std::string> Proxy::command(const std::string& program, std::uint16_t engine_port,
                                        ProxyEntry entry) const {
    const std::filesystem::path examples = std::string(SLUICE_SOURCE_DIR) + "/docs/proxy";
    const std::string folder = folder_.path().string();
    const std::string file = folder + "/config";
    if (program != "nginx") {
        std::ofstream(file) << haproxy_config(read_file(examples / "haproxy.cfg"), engine_port,
                                              entry);
        return {path_of(program), "-db", "-f", file};
    }
    std::ofstream(file) << nginx_config(read_file(examples / "nginx.conf"), engine_port, entry);
    // When root starts it, its workers run as another user, who could not use the folder.
    const std::string more = ::geteuid() == 0 ? "daemon off; user root;" : "daemon off;";
    return {path_of(program), "-p", folder, "-e", "stderr", "-c", file, "-g", more};
}

// Another process may have taken the port: nginx complains about that and tries on.
bool Proxy::has_come_up() const {
    const auto has_failed = [&] {
        return process_->wait(Millis(0)) || process_->errors().find("bind()") != std::string::npos;
    };
    return eventually([&] { return is_listening(port_) || has_failed(); }) && !has_failed();
}

Proxy::Proxy(const std::string& program, std::uint16_t engine_port, ProxyEntry entry) {
    constexpr int tries = 3;  // a port that is free may be taken before the proxy has it
    ca_file_ = make_certificate(folder_.path(), "server").certificate;
    for (int i = 0; i < tries; ++i) {
        port_ = free_port();
        process_ = std::make_unique<Process>(command(program, engine_port, entry));
        if (has_come_up()) return;
    }
    throw std::runtime_error(program + " does not come up: " + process_->errors());
}

}  // namespace sluice::e2e
