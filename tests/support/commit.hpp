#pragma once

#include "application/ports/store.hpp"

namespace sluice {

// Does the work in a session of its own, commits, and returns what the work has returned.
template <class Work>
auto commit(Store& store, Work&& work) {
    const auto session = store.begin();
    auto result = work(*session);
    session->commit();
    return result;
}

}  // namespace sluice
