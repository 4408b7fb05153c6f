#pragma once

#include "application/ports/store.hpp"
#include "application/ports/store_space.hpp"
#include "domain/values/result.hpp"

namespace sluice {

// The error for callers when the store gave no answer. The store's own message names tables, hosts
// and files: it belongs in the log, and nowhere else.
inline Error refusal_for(const StoreUnavailable& unavailable) {
    if (dynamic_cast<const StoreFull*>(&unavailable)) return store_full_error();
    const bool was_in_the_way = dynamic_cast<const StoreConflict*>(&unavailable) != nullptr;
    return {ErrorCode::unavailable,
            was_in_the_way ? "other requests changed the same in each try, or the connection to "
                             "the store broke; send the same again in a moment"
                           : "the store does not answer; send the same again in a moment",
            ""};
}

// The error for callers when as much waits for the store as may.
inline Error too_much_waits() {
    return {ErrorCode::unavailable,
            "too many requests wait for the store; send the same again in a moment", ""};
}

}  // namespace sluice
