#include "client/link/public_address.hpp"

#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <netinet/in.h>

#include <cstring>

namespace sluice::client {
namespace public_address_test {

sockaddr_storage address_of(const char* text) {
    sockaddr_storage storage{};
    sockaddr_in in4{};
    sockaddr_in6 in6{};
    if (inet_pton(AF_INET, text, &in4.sin_addr) == 1) {
        in4.sin_family = AF_INET;
        std::memcpy(&storage, &in4, sizeof in4);
    } else if (inet_pton(AF_INET6, text, &in6.sin6_addr) == 1) {
        in6.sin6_family = AF_INET6;
        std::memcpy(&storage, &in6, sizeof in6);
    } else {
        ADD_FAILURE() << text << " is no address";
    }
    return storage;
}

bool is_public(const char* text) {
    const sockaddr_storage storage = address_of(text);
    return is_public_address(reinterpret_cast<const sockaddr&>(storage));
}

TEST(PublicAddress, KnowsWhatStaysInside) {
    for (const char* text :
         {"0.0.0.0",         "0.1.2.3",         "10.0.0.1",       "10.255.255.255",
          "100.64.0.1",      "100.127.255.255", "127.0.0.1",      "127.255.255.254",
          "169.254.169.254", "172.16.0.1",      "172.31.255.255", "192.0.0.8",
          "192.0.2.1",       "192.168.0.1",     "198.18.0.1",     "198.19.255.255",
          "198.51.100.7",    "203.0.113.9",     "224.0.0.1",      "239.255.255.255",
          "240.0.0.1",       "255.255.255.255"}) {
        EXPECT_FALSE(is_public(text)) << text;
    }
}

TEST(PublicAddress, LetsNeighboursOfTheRangesThrough) {
    for (const char* text : {"1.1.1.1", "9.255.255.255", "11.0.0.0", "100.63.255.255",
                             "100.128.0.0", "126.255.255.255", "128.0.0.1", "169.253.255.255",
                             "169.255.0.0", "172.15.255.255", "172.32.0.0", "192.167.255.255",
                             "192.169.0.0", "198.17.255.255", "198.20.0.0", "223.255.255.255"}) {
        EXPECT_TRUE(is_public(text)) << text;
    }
}

TEST(PublicAddress, KnowsWhatStaysInsideOfIpVersion6) {
    for (const char* text : {"::",
                             "::1",
                             "::7f00:1",
                             "::ffff:127.0.0.1",
                             "::ffff:10.1.2.3",
                             "::ffff:169.254.169.254",
                             "64:ff9b::127.0.0.1",
                             "64:ff9b::192.168.1.1",
                             "64:ff9b:1::8.8.8.8",
                             "100::1",
                             "2001::1",
                             "2001:0:4136:e378:8000:63bf:3fff:fdd2",
                             "2001:db8::1",
                             "2002:7f00:1::1",
                             "2002:c0a8:101::1",
                             "3fff:0fff::1",
                             "5f00::1",
                             "fc00::1",
                             "fd12:3456::1",
                             "fe80::1",
                             "fec0::1",
                             "ff02::1"}) {
        EXPECT_FALSE(is_public(text)) << text;
    }
}

TEST(PublicAddress, LetsPublicAddressesOfIpVersion6Through) {
    for (const char* text :
         {"2606:4700:4700::1111", "2001:4860:4860::8888", "2a00:1450::1", "::ffff:8.8.8.8",
          "64:ff9b::8.8.8.8", "2002:808:808::1", "3fff:1000::1"}) {
        EXPECT_TRUE(is_public(text)) << text;
    }
}

TEST(PublicAddress, RefusesOtherFamilies) {
    sockaddr address{};
    address.sa_family = AF_UNIX;

    EXPECT_FALSE(is_public_address(address));
}

TEST(PublicAddress, IsShownAsPeopleWriteIt) {
    const sockaddr_storage four = address_of("192.168.0.1");
    const sockaddr_storage six = address_of("fe80::1");

    EXPECT_EQ(address_text(reinterpret_cast<const sockaddr&>(four)), "192.168.0.1");
    EXPECT_EQ(address_text(reinterpret_cast<const sockaddr&>(six)), "fe80::1");
}

}  // namespace public_address_test
}  // namespace sluice::client
