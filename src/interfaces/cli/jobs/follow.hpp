#pragma once

#include <optional>

#include "interfaces/cli/framework/session.hpp"

namespace sluice::cli {

struct FollowOptions {
    bool is_shown = true;                   // the progress, on standard error
    std::optional<client::Millis> limit{};  // how long to wait
};

// Waits for the job's end and shows its events meanwhile. Then prints how it ended, and its result
// (or, in a format that was asked for, the job) on standard output. Returns the exit code of the
// job's final state; 7 when the time is up, 130 after Ctrl-C: the job goes on in both cases.
int follow_to_the_end(Session& session, const client::Job& job, const FollowOptions& options);

int exit_code_of(client::State state);

}  // namespace sluice::cli
