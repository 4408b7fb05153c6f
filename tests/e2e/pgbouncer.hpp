#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "e2e/process.hpp"

namespace sluice::e2e {

// PgBouncer in transaction mode before the test server: many clients share two sessions of each
// database.
class PgBouncer {
  public:
    PgBouncer();
    ~PgBouncer();
    PgBouncer(const PgBouncer&) = delete;
    PgBouncer& operator=(const PgBouncer&) = delete;

    // The same database through the pooler.
    std::string url_for(std::string url) const;

  private:
    std::uint16_t port_ = 0;
    TempFolder folder_;
    std::unique_ptr<Process> process_;
};

}  // namespace sluice::e2e
