#include "client/runner/ending.hpp"

#include <fmt/format.h>

#include "client/link/reportable.hpp"

namespace sluice::client {
namespace {

using How = Ending::How;
using Kind = Outcome::Kind;

// Whether the job has come to its own end although it was asked to stop. A failure that would be
// retried only says that it was not finished.
bool is_finished(const Returned& returned) {
    const Outcome& outcome = returned.outcome;
    return outcome.kind == Kind::succeeded || (outcome.kind == Kind::failed && !outcome.retryable);
}

}  // namespace

Returned run_worker(JobWorker* worker, const Job& job, Context& context) {
    if (worker == nullptr) {
        return {Outcome::failed(
            "NO_WORKER", fmt::format("no worker registered for job type {}", job.type), false)};
    }
    try {
        return {worker->execute(job, context)};
    } catch (const std::exception& error) {
        return {Outcome::failed("WORKER_EXCEPTION", error.what()), true};
    } catch (...) {
        return {Outcome::failed("WORKER_EXCEPTION", "the worker threw something unknown"), true};
    }
}

Ending ending_of(Returned returned, StopReason reason, const Job& job) {
    switch (reason) {
        case StopReason::none: break;
        case StopReason::canceled:
            if (returned.threw) return {How::report, Outcome::canceled("the job was canceled")};
            break;
        case StopReason::deadline:
            return {How::report, Outcome::timed_out(
                                     fmt::format("job timed out after {}ms", job.timeout.count()))};
        case StopReason::lease_lost: return {How::drop, {}};
        case StopReason::shutdown:
            if (!is_finished(returned)) return {How::hand_back, {}};
            break;
    }
    return {How::report, reportable(std::move(returned.outcome))};
}

}  // namespace sluice::client
