#include "domain/values/chance.hpp"

#include <gtest/gtest.h>

namespace sluice {
namespace chance_test {

TEST(Chance, RepeatsItselfFromTheSameSeed) {
    Chance first(42);
    Chance second(42);

    for (int i = 0; i < 1000; ++i) EXPECT_EQ(first.next(), second.next());
}

TEST(Chance, DiffersBetweenSeeds) {
    Chance first(1);
    Chance second(2);

    EXPECT_NE(first.next(), second.next());
}

TEST(Chance, StaysBelowOneAndSpreadsEvenly) {
    Chance chance(7);
    double sum = 0;

    for (int i = 0; i < 100'000; ++i) {
        const double next = chance.next();
        ASSERT_GE(next, 0.0);
        ASSERT_LT(next, 1.0);
        sum += next;
    }

    EXPECT_NEAR(sum / 100'000, 0.5, 0.01);
}

}  // namespace chance_test
}  // namespace sluice
