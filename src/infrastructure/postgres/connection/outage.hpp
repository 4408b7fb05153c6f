#pragma once

#include "domain/values/time.hpp"

namespace sluice::postgres {

// The knowledge of one user of the database about an outage. The first caller to meet it waits for
// the server; while it lasts, later callers are refused at once, and now and then one of them
// tries. So no caller waits behind others that each wait in vain.
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
