#pragma once

#include <cstddef>
#include <optional>
#include <vector>

#include "application/ports/store.hpp"

namespace sluice {

// The news of one commit for the other committers of a shared store.
struct Announcement {
    std::vector<Readied> readied{};  // became claimable, and were not taken here
    Timestamp due = never;           // a write has to be looked at then
    bool rules_changed = false;      // those about what may run
    // How many claims wait now; nothing from a committer where claims never wait.
    std::optional<std::size_t> waiting_claims{};
};

// Tells the other committers, in this process and elsewhere, to look. Only a hint: a job whose hint
// is lost is found later. Called by committing threads after their commits; must not wait.
class Wakeups {
  public:
    virtual ~Wakeups() = default;

    virtual void announce(const Announcement& announcement) = 0;
};

}  // namespace sluice
