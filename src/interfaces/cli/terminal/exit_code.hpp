#pragma once

namespace sluice::cli {

// Exit codes; docs/cli.md explains them.
enum ExitCode {
    exit_ok = 0,
    exit_error = 1,
    exit_usage = 2,
    exit_job_failed = 3,  // failed or timed_out
    exit_denied = 4,      // authentication
    exit_not_found = 5,
    exit_conflict = 6,  // the state does not allow it, or a history is broken
    exit_wait_timed_out = 7,
    exit_job_canceled = 8,
    exit_rate_limited = 9,
    exit_unreachable = 10,
    exit_interrupted = 130,
};

}  // namespace sluice::cli
