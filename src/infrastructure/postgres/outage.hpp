#pragma once

#include "domain/time.hpp"

namespace sluice::postgres {

// What one user of the database knows about an outage. Whoever meets it first waits for the server;
// while it lasts, those who come after are refused at once, and now and then one of them tries. So
// nobody waits behind a row of others that each wait in vain.
class Outage {
  public:
    // Throws StoreUnavailable when the last try was a moment ago.
    void refuse_between_tries() const;

    bool is_on() const { return failed_at_ > Duration{}; }
    void try_failed();
    void is_over() { failed_at_ = {}; }

  private:
    Duration failed_at_{};  // since boot; zero: the server has answered since
};

}  // namespace sluice::postgres
