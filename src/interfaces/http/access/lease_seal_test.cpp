#include "interfaces/http/access/lease_seal.hpp"

#include <gtest/gtest.h>

namespace sluice::http {
namespace lease_seal_test {

const LeaseId lease{JobId{0x123456789abc}, LeaseToken{0x987654321}};

TEST(LeaseSeal, WithoutAKeyAnIdIsAsItIs) {
    const LeaseSeal open;
    EXPECT_EQ(open.text(lease), to_text(lease));
    EXPECT_EQ(open.read(to_text(lease)), lease);
}

TEST(LeaseSeal, TakesBackOnlyWhatItGave) {
    LeaseSeal seal, other;
    seal.set_key("a key");
    other.set_key("another key");
    const std::string text = seal.text(lease);

    EXPECT_EQ(seal.read(text), lease);
    EXPECT_EQ(other.read(text), std::nullopt);
    EXPECT_EQ(seal.read(to_text(lease)), std::nullopt);
    for (std::size_t i = 0; i < text.size(); ++i) {
        std::string forged = text;
        forged[i] = forged[i] == '0' ? '1' : '0';
        EXPECT_EQ(seal.read(forged), std::nullopt) << i;
    }
    EXPECT_EQ(seal.read(text.substr(0, text.size() - 1)), std::nullopt);
    EXPECT_EQ(seal.read(text + "0"), std::nullopt);
    EXPECT_EQ(seal.read(""), std::nullopt);
}

TEST(LeaseSeal, TheSameKeyIsTheSameSealElsewhere) {
    LeaseSeal seal, elsewhere;
    seal.set_key("a key");
    elsewhere.set_key("a key");
    EXPECT_EQ(elsewhere.read(seal.text(lease)), lease);
}

TEST(LeaseSeal, CallsThatWaitForTheKeyGoOnWhenItHasComeOrIsMissed) {
    LeaseSeal seal;
    seal.await_key();
    int missed = 0, served = 0;
    const auto look = [&] { ++(seal.is_ready() ? served : missed); };

    seal.when_asked(look);
    seal.miss_key();
    seal.when_asked(look);
    seal.when_asked(look);
    seal.set_key("a key");
    seal.set_key("a key");

    EXPECT_EQ(missed, 1);
    EXPECT_EQ(served, 2);
}

}  // namespace lease_seal_test
}  // namespace sluice::http
