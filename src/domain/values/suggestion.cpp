#include "domain/values/suggestion.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <numeric>

namespace sluice {
namespace {

// How many letters must be added, left out, changed or swapped with their neighbour.
std::size_t edit_distance(std::string_view a, std::string_view b) {
    std::vector<std::size_t> before_last(b.size() + 1), last(b.size() + 1), row(b.size() + 1);
    std::iota(last.begin(), last.end(), std::size_t{0});
    for (std::size_t i = 1; i <= a.size(); ++i) {
        row[0] = i;
        for (std::size_t j = 1; j <= b.size(); ++j) {
            const std::size_t change = last[j - 1] + (a[i - 1] == b[j - 1] ? 0 : 1);
            row[j] = std::min({last[j] + 1, row[j - 1] + 1, change});
            if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1]) {
                row[j] = std::min(row[j], before_last[j - 2] + 1);
            }
        }
        std::swap(before_last, last);
        std::swap(last, row);
    }
    return last[b.size()];
}

}  // namespace

const std::string* nearest(std::string_view unknown, const std::vector<std::string>& known) {
    const std::string* found = nullptr;
    std::size_t distance =
        std::max<std::size_t>(unknown.size() < 4 ? 1 : 2, unknown.size() / 3) + 1;
    for (const std::string& name : known) {
        const std::size_t apart = edit_distance(unknown, name);
        if (apart >= distance) continue;
        found = &name;
        distance = apart;
    }
    return found;
}

std::string suggestion(std::string_view unknown, const std::vector<std::string>& known) {
    if (const std::string* name = nearest(unknown, known)) {
        return fmt::format("did you mean \"{}\"?", *name);
    }
    return fmt::format("known here: {}", fmt::join(known, ", "));
}

}  // namespace sluice
