#include "domain/jobs/backoff.hpp"

#include <algorithm>

namespace sluice {

Backoff Backoff::list(std::vector<Duration> delays) {
    return {.kind = Kind::list, .delays = std::move(delays)};
}

Backoff Backoff::exponential(Duration base, Duration cap) {
    return {.kind = Kind::exponential, .base = base, .cap = cap};
}

Duration Backoff::after(int attempt, double chance) const {
    switch (kind) {
        case Kind::none: return Duration{0};
        case Kind::list: {
            if (delays.empty()) return Duration{0};
            const auto index = static_cast<std::size_t>(std::max(attempt, 1) - 1);
            return delays[std::min(index, delays.size() - 1)];
        }
        case Kind::exponential: {
            Duration ceiling = base;
            for (int doubled = 1; doubled < attempt && ceiling < cap; ++doubled) ceiling *= 2;
            ceiling = std::min(ceiling, cap);
            return Duration{
                static_cast<Duration::rep>(static_cast<double>(ceiling.count()) * chance)};
        }
    }
    return Duration{0};
}

}  // namespace sluice
