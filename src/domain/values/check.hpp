#pragma once

#include <cstdio>
#include <cstdlib>

namespace sluice {

// States a condition that must be true. When it is false, that is a bug: the process stops, in
// release builds too, since every acknowledged write is on disk and a restart is safer than going
// on.
inline void check(bool holds, const char* what) {
    if (holds) [[likely]]
        return;
    std::fprintf(stderr, "sluice: invariant broken: %s\n", what);
    std::abort();
}

}  // namespace sluice
