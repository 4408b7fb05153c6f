#include "e2e/pgbouncer.hpp"

#include <csignal>
#include <fstream>
#include <stdexcept>

#include <unistd.h>

#include "e2e/ports.hpp"
#include "support/postgres.hpp"

namespace sluice::e2e {
namespace {

std::string port_in(const std::string& url) {
    const std::size_t begin = url.rfind(':') + 1;
    return url.substr(begin, url.rfind('/') - begin);
}

// It refuses to run as root; PostgreSQL's package has made a user that may read the file.
std::vector<std::string> command_for(const std::string& file) {
    std::vector<std::string> command{"pgbouncer", file};
    if (geteuid() == 0) {
        command.insert(command.begin(),
                       {"setpriv", "--reuid=postgres", "--regid=postgres", "--init-groups"});
    }
    return command;
}

}  // namespace

PgBouncer::PgBouncer() : port_(free_port()) {
    const std::filesystem::path file = folder_.path() / "pgbouncer.ini";
    std::ofstream(file) << "[databases]\n* = host=127.0.0.1 port=" << port_in(test_server_url())
                        << " user=sluice\n[pgbouncer]\nlisten_addr = 127.0.0.1\nlisten_port = "
                        << port_
                        << "\nauth_type = any\npool_mode = transaction\ndefault_pool_size = 2\n"
                           "max_client_conn = 100\nunix_socket_dir =\n";
    std::filesystem::permissions(
        folder_.path(),
        std::filesystem::perms::group_exec | std::filesystem::perms::others_exec |
            std::filesystem::perms::group_read | std::filesystem::perms::others_read,
        std::filesystem::perm_options::add);
    process_ = std::make_unique<Process>(command_for(file.string()));
    if (!eventually([&] { return is_listening(port_) || process_->wait(Millis(0)).has_value(); }) ||
        process_->wait(Millis(0))) {
        throw std::runtime_error("PgBouncer does not run; ./dev setup installs it: " +
                                 process_->errors());
    }
}

PgBouncer::~PgBouncer() {
    process_->send_signal(SIGINT);
    process_->wait(Millis(10'000));
}

std::string PgBouncer::url_for(std::string url) const {
    const std::size_t begin = url.rfind(':') + 1;
    return url.replace(begin, url.rfind('/') - begin, std::to_string(port_));
}

}  // namespace sluice::e2e
