#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "domain/jobs/ids.hpp"
#include "domain/values/sha256.hpp"

namespace sluice::http {

// The numbers in a lease id can be guessed, since they count milliseconds. Where workers show
// tokens, a lease id therefore ends in a seal that only this engine, and those that share its
// store, can make: so a worker can name the leases that it was given, and no others.
class LeaseSeal {
  public:
    // A key is to come: until then workers' calls wait.
    void await_key() { is_ready_ = false; }
    bool is_ready() const { return is_ready_; }

    // From now on ids are sealed with this key.
    void set_key(std::string_view key) {
        key_ = sha256(key);
        is_ready_ = true;
        call_waiting();
    }

    // The key could not be read. It is asked for again later.
    void miss_key() { call_waiting(); }

    // Calls `then` when the next attempt to read the key has ended, well or not.
    void when_asked(std::function<void()> then) { waiting_.push_back(std::move(then)); }

    // "<24 hex digits>-<16 hex digits>", and with a seal "-<32 hex digits>".
    std::string text(LeaseId lease) const;

    // Nothing when it is no lease id, or none that was given out here.
    std::optional<LeaseId> read(std::string_view text) const;

  private:
    std::string seal_of(std::string_view id) const;
    void call_waiting() {
        for (const auto& then : std::exchange(waiting_, {})) then();
    }

    std::optional<Digest> key_;
    bool is_ready_ = true;
    std::vector<std::function<void()>> waiting_;
};

}  // namespace sluice::http
