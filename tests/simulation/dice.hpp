#pragma once

#include <cstdint>
#include <vector>

namespace sluice::simulation {

// Seeded random numbers, the same on every machine.
class Dice {
  public:
    explicit Dice(std::uint64_t seed) : state_(mixed(seed)) {}

    // In [0, sides).
    int below(int sides) { return static_cast<int>(next() % static_cast<std::uint64_t>(sides)); }
    bool one_in(int sides) { return below(sides) == 0; }
    bool percent(int chance) { return below(100) < chance; }
    std::uint64_t number() { return next(); }

    template <class Item>
    const Item& pick(const std::vector<Item>& items) {
        return items[static_cast<std::size_t>(below(static_cast<int>(items.size())))];
    }
    template <class Item>
    Item& pick(std::vector<Item>& items) {
        return items[static_cast<std::size_t>(below(static_cast<int>(items.size())))];
    }

  private:
    // splitmix64
    static std::uint64_t mixed(std::uint64_t z) {
        z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9u;
        z = (z ^ (z >> 27)) * 0x94D049BB133111EBu;
        return z ^ (z >> 31);
    }
    std::uint64_t next() { return mixed(state_ += 0x9E3779B97F4A7C15u); }

    std::uint64_t state_;
};

}  // namespace sluice::simulation
