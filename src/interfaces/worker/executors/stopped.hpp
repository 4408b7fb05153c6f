#pragma once

#include <optional>

#include "interfaces/worker/executors/supervised.hpp"
#include "sluice/worker.hpp"

namespace sluice::worker {

// The outcome of an attempt that stopped because it was told to. After a lost lease it is ignored,
// and a worker that shuts down hands the job back instead.
inline client::Outcome stopped(client::StopReason reason) {
    if (reason == client::StopReason::deadline) return client::Outcome::timed_out();
    return client::Outcome::canceled();
}

// The outcome of a command that did not end by itself; nothing when it did. A command that was told
// to end because of its lease may have left its work half done, whatever its exit code says.
inline std::optional<client::Outcome> outcome_without_own_end(const Ended& ended) {
    if (ended.stop != client::StopReason::none) return stopped(ended.stop);
    if (!ended.exit.not_started.empty()) {
        return client::Outcome::failed("COMMAND_NOT_STARTED", ended.exit.not_started,
                                       ended.exit.may_start_later);
    }
    if (ended.lease_ran_out) {
        return client::Outcome::failed(
            "LEASE_NOT_RENEWED",
            "the command was ended, since the job's lease was not renewed in time");
    }
    return std::nullopt;
}

}  // namespace sluice::worker
