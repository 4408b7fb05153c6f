#include "e2e/ports.hpp"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <random>

namespace sluice::e2e {
namespace {

sockaddr_in loopback(std::uint16_t port) {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_port = htons(port);
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    return address;
}

}  // namespace

std::uint16_t free_port() {
    static std::minstd_rand random(static_cast<unsigned>(::getpid()));
    for (;;) {
        const auto port =
            static_cast<std::uint16_t>(std::uniform_int_distribution<int>(20'000, 32'000)(random));
        const int probe = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
        const sockaddr_in address = loopback(port);
        const bool is_free =
            ::bind(probe, reinterpret_cast<const sockaddr*>(&address), sizeof(address)) == 0;
        ::close(probe);
        if (is_free) return port;
    }
}

bool is_listening(std::uint16_t port) {
    const int probe = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    const sockaddr_in address = loopback(port);
    const bool is =
        ::connect(probe, reinterpret_cast<const sockaddr*>(&address), sizeof(address)) == 0;
    ::close(probe);
    return is;
}

}  // namespace sluice::e2e
