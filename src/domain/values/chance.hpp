#pragma once

#include <cstdint>

namespace sluice {

// Jitter from a seed (splitmix64): the same seed gives the same numbers, so that a simulation can
// repeat itself.
class Chance {
  public:
    explicit Chance(std::uint64_t seed) : state_(seed) {}

    // In [0, 1).
    double next() {
        std::uint64_t z = (state_ += 0x9E3779B97F4A7C15u);
        z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9u;
        z = (z ^ (z >> 27)) * 0x94D049BB133111EBu;
        return static_cast<double>((z ^ (z >> 31)) >> 11) * 0x1.0p-53;
    }

  private:
    std::uint64_t state_;
};

}  // namespace sluice
