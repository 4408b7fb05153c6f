#pragma once

#include <unordered_set>
#include <vector>

namespace sluice {

// Splits the indexes 0..count-1 into waves, in order, such that no wave holds two indexes with the
// same key. A batch may hold several commands for one job; each wave can then read and write its
// jobs all at once, and the next wave sees the changes of the one before it.
template <class KeyOf>
std::vector<std::vector<std::size_t>> in_waves(std::size_t count, KeyOf&& key_of) {
    std::vector<std::vector<std::size_t>> waves;
    std::vector<std::size_t> rest(count);
    for (std::size_t i = 0; i < count; ++i) rest[i] = i;
    while (!rest.empty()) {
        std::unordered_set<std::decay_t<decltype(key_of(std::size_t{0}))>> seen;
        std::vector<std::size_t> later;
        std::vector<std::size_t>& wave = waves.emplace_back();
        for (const std::size_t index : rest) {
            (seen.insert(key_of(index)).second ? wave : later).push_back(index);
        }
        rest = std::move(later);
    }
    return waves;
}

}  // namespace sluice
