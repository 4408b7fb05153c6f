#pragma once

#include <mutex>
#include <optional>
#include <set>

#include "infrastructure/postgres/connection/connection.hpp"

namespace sluice::postgres {

// The windows that this process knows to exist, so that a job whose window is missing is not sent
// in vain. Thread-safe.
class KnownWindows {
  public:
    void load(Connection& connection);

    // Whether the job has a window; when not, it is remembered as missing.
    bool has(JobId id);

    // Adds the window that was missing last, if one was. Outside of a transaction.
    void add_missing(Connection& connection);

  private:
    std::mutex mutex_;
    std::set<std::int64_t> weeks_;
    std::int64_t open_until_ = -1;  // the week of the window that takes all that is older, too
    std::optional<JobId> missing_;
};

}  // namespace sluice::postgres
