#pragma once

#include <cstddef>
#include <optional>
#include <vector>

#include "application/ports/store.hpp"

namespace sluice {

// What one commit means to the other committers of a store that several share.
struct Announcement {
    std::vector<Readied> readied{};  // became claimable, and nobody here has taken it
    Timestamp due = never;           // something that was written has to be looked at then
    // How many claims wait now; nothing from a committer at which none ever do.
    std::optional<std::size_t> waiting_claims{};
};

// Tells the other committers, in this process and elsewhere, to look. Only a hint: whatever is lost
// here is found later. Called by committing threads after their commits; must not wait.
class Wakeups {
  public:
    virtual ~Wakeups() = default;

    virtual void announce(const Announcement& announcement) = 0;
};

}  // namespace sluice
