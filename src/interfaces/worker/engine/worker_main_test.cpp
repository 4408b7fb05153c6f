// The test program is also the leash process of the tests in it.
#include <gtest/gtest.h>

#include <string_view>

#include "interfaces/worker/leash/leash.hpp"

int main(int argc, char** argv) {
    if (argc > 1 && std::string_view(argv[1]) == "__leash") return sluice::worker::run_leash();
    testing::InitGoogleTest(&argc, argv);
    return RUN_ALL_TESTS();
}
