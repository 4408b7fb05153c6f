#pragma once

#include <functional>
#include <string>
#include <string_view>

#include "interfaces/worker/leash/leash.hpp"
#include "sluice/worker.hpp"

// A command that a job runs, from its start to its end.
namespace sluice::worker {

using client::Millis;

enum class Stream { output, errors };

// A line that a command wrote, without its end. A line that is longer than a log line may be comes
// in several pieces, each of which but the last `continues`.
struct OutputLine {
    Stream stream = Stream::output;
    std::string_view text{};  // valid during the call
    bool continues = false;
};

struct Supervision {
    Millis stop_grace{5'000};   // between SIGTERM and SIGKILL
    Millis limit{0};            // of the run, in addition to the job's deadline; zero: none
    bool takes_result = false;  // whether the command gets a descriptor 3 to write a result to
    std::function<void(const OutputLine&)> on_line{};
};

// How a supervised command ended.
struct Ended {
    Exit exit{};
    // Why the command was told to stop; none when it ended before.
    client::StopReason stop = client::StopReason::none;
    bool limit_reached =
        false;  // it was told to stop because it ran longer than Supervision::limit
    // The command was told to end, since the lease was not renewed in time; however it then ended.
    bool lease_ran_out = false;
    std::string result{};  // that it wrote to descriptor 3
    bool result_too_large = false;
};

// The largest result that the engine takes.
inline constexpr std::size_t result_bytes_max = 256 * 1024;

// Runs the command on the leash until it and its whole group have ended, passes on its output, and
// stops it when the job should stop or its lease is about to end. Its descriptors 1, 2 and 3 are
// made here; input is the caller's. Later output of processes that left the group is lost.
Ended supervise(Leash& leash, Command command, client::Context& context,
                const Supervision& supervision);

}  // namespace sluice::worker
