#pragma once

#include "application/ports/store.hpp"
#include "application/store_room.hpp"
#include "domain/result.hpp"

namespace sluice {

// What callers hear when the store gave no answer. The reason in its own words names tables, hosts
// and files: it belongs in the log, and nowhere else.
inline Error refusal_for(const StoreUnavailable& unavailable) {
    if (dynamic_cast<const StoreFull*>(&unavailable)) return store_full_error();
    const bool was_in_the_way = dynamic_cast<const StoreConflict*>(&unavailable) != nullptr;
    return {ErrorCode::unavailable,
            was_in_the_way ? "others are at work on the same for too long; send it again"
                           : "the store does not answer; send the same again in a moment",
            ""};
}

}  // namespace sluice
