#include "client/link/public_address.hpp"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstring>

namespace sluice::client {
namespace {

struct Range4 {
    std::uint32_t first = 0;  // in host order
    int bits = 0;
};

constexpr std::uint32_t ip4(std::uint32_t a, std::uint32_t b, std::uint32_t c = 0) {
    return a << 24 | b << 16 | c << 8;
}

// IANA's special-purpose registry, with multicast and reserved ranges.
constexpr auto not_public4 = std::to_array<Range4>({
    {ip4(0, 0), 8},
    {ip4(10, 0), 8},
    {ip4(100, 64), 10},
    {ip4(127, 0), 8},
    {ip4(169, 254), 16},
    {ip4(172, 16), 12},
    {ip4(192, 0, 0), 24},
    {ip4(192, 0, 2), 24},
    {ip4(192, 88, 99), 24},
    {ip4(192, 168), 16},
    {ip4(198, 18), 15},
    {ip4(198, 51, 100), 24},
    {ip4(203, 0, 113), 24},
    {ip4(224, 0), 4},
    {ip4(240, 0), 4},
});

bool is_public4(std::uint32_t address) {
    return std::none_of(not_public4.begin(), not_public4.end(), [&](const Range4& range) {
        return (address ^ range.first) >> (32 - range.bits) == 0;
    });
}

using Bytes6 = std::array<std::uint8_t, 16>;

std::uint32_t ip4_at(const Bytes6& bytes, std::size_t offset) {
    std::uint32_t address = 0;
    for (std::size_t i = 0; i < 4; ++i) address = address << 8 | bytes[offset + i];
    return address;
}

bool starts_with(const Bytes6& bytes, std::initializer_list<std::uint8_t> prefix) {
    return std::equal(prefix.begin(), prefix.end(), bytes.begin());
}

bool is_public6(const Bytes6& bytes) {
    const bool is_mapped = starts_with(bytes, {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xFF, 0xFF});
    const bool is_nat64 = starts_with(bytes, {0, 0x64, 0xFF, 0x9B, 0, 0, 0, 0, 0, 0, 0, 0});
    if (is_mapped || is_nat64) return is_public4(ip4_at(bytes, 12));
    if (starts_with(bytes, {0x20, 0x02})) return is_public4(ip4_at(bytes, 2));  // 6to4
    if ((bytes[0] & 0xE0) != 0x20) return false;  // only 2000::/3 is assigned
    const bool is_protocol = starts_with(bytes, {0x20, 0x01}) && bytes[2] < 2;  // 2001::/23, Teredo
    const bool is_example = starts_with(bytes, {0x20, 0x01, 0x0D, 0xB8}) ||
                            (starts_with(bytes, {0x3F, 0xFF}) && bytes[2] < 0x10);
    return !is_protocol && !is_example;
}

}  // namespace

bool is_public_address(const sockaddr& address) {
    if (address.sa_family == AF_INET) {
        sockaddr_in in{};
        std::memcpy(&in, &address, sizeof in);
        return is_public4(ntohl(in.sin_addr.s_addr));
    }
    if (address.sa_family == AF_INET6) {
        sockaddr_in6 in{};
        std::memcpy(&in, &address, sizeof in);
        Bytes6 bytes{};
        std::memcpy(bytes.data(), &in.sin6_addr, bytes.size());
        return is_public6(bytes);
    }
    return false;
}

std::string address_text(const sockaddr& address) {
    char text[INET6_ADDRSTRLEN] = "an address of another family";
    if (address.sa_family == AF_INET) {
        sockaddr_in in{};
        std::memcpy(&in, &address, sizeof in);
        inet_ntop(AF_INET, &in.sin_addr, text, sizeof text);
    } else if (address.sa_family == AF_INET6) {
        sockaddr_in6 in{};
        std::memcpy(&in, &address, sizeof in);
        inet_ntop(AF_INET6, &in.sin6_addr, text, sizeof text);
    }
    return text;
}

}  // namespace sluice::client
