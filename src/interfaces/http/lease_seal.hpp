#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "domain/ids.hpp"
#include "domain/sha256.hpp"

namespace sluice::http {

// The numbers in a lease id can be guessed, since they count milliseconds. Where workers show
// tokens, a lease id therefore ends in a seal that only this engine, and those that share its
// store, can make: so a worker can speak about what it was given, and about nothing else.
class LeaseSeal {
  public:
    // A key is to come: until then nobody works here.
    void await_key() { is_ready_ = false; }
    bool is_ready() const { return is_ready_; }

    // From now on ids are sealed with this key.
    void set_key(std::string_view key) {
        key_ = sha256(key);
        is_ready_ = true;
    }

    // "<24 hex digits>-<16 hex digits>", and with a seal "-<32 hex digits>".
    std::string text(LeaseId lease) const;

    // Nothing when it is no lease id, or none that was given out here.
    std::optional<LeaseId> read(std::string_view text) const;

  private:
    std::string seal_of(std::string_view id) const;

    std::optional<Digest> key_;
    bool is_ready_ = true;
};

}  // namespace sluice::http
