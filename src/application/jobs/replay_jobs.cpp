#include "application/jobs/replay_jobs.hpp"

#include <fmt/format.h>

#include "application/entities/follow_jobs.hpp"
#include "application/jobs/repeated_requests.hpp"
#include "application/limits/submit_limits.hpp"
#include "application/toolkit/error_detail.hpp"
#include "application/toolkit/names.hpp"

namespace sluice {
namespace {

// A repeated request is answered even when its job has been removed since.
std::optional<Job> repeated_replay(Transaction& tx, const ReplayJob& command, Duration remembered) {
    if (command.idempotency_key.empty() || command.tenant.empty()) return std::nullopt;
    const auto before =
        find_repeated(tx, command.tenant, command.idempotency_key, command.body_digest, remembered);
    if (!before || !*before) return std::nullopt;
    Job then = std::move(jobs_as_accepted(tx, **before).front());
    return then.spec->replay_of == command.job ? std::optional(std::move(then)) : std::nullopt;
}

Result<Job> replay(Transaction& tx, const ReplayJob& command, Duration remembered) {
    std::optional<Job> source = tx.jobs().find_one(command.job);
    if (!source || (!command.tenant.empty() && source->spec->tenant != command.tenant)) {
        if (auto before = repeated_replay(tx, command, remembered)) return *std::move(before);
        return no_such_job(command.job);
    }
    if (!is_final(source->now.state)) {
        return Error{ErrorCode::conflict,
                     fmt::format("the job is {}; only a job that has ended can be replayed",
                                 to_text(source->now.state)),
                     ""};
    }
    if (!source->damage.empty()) {
        return Error{
            ErrorCode::conflict,
            fmt::format(
                "the stored row of the job is damaged: its {} is lost, so that it cannot be "
                "replayed; submit a new job",
                source->damage),
            ""};
    }
    const std::string tenant = source->spec->tenant;
    const bool has_key = !command.idempotency_key.empty();
    if (has_key) {
        const auto before =
            find_repeated(tx, tenant, command.idempotency_key, command.body_digest, remembered);
        if (!before) return before.error();
        if (*before) return std::move(jobs_as_accepted(tx, **before).front());
    }
    JobSpec spec = *source->spec;
    spec.replay_of = spec.id;
    spec.id = tx.next_job_id();
    spec.created_at = tx.now();
    spec.run_after = tx.now();
    spec.idempotency_key = command.idempotency_key;
    spec.depends_on.clear();
    spec.history_form = newest_history_form;
    if (auto refusal = SubmitLimits(tx).refuse(spec)) return *std::move(refusal);
    if (auto refusal = prepare_to_follow(tx.rules(), tx.reader().entities(), spec, false)) {
        return *std::move(refusal);
    }

    Arrival arrival{accepted(std::move(spec)), false};
    tx.record(arrival.job, Step::submitted, std::nullopt, command.actor,
              reason_detail(command.reason));
    tx.jobs().put({&arrival, 1});
    if (has_key) {
        tx.idempotency().put({tenant,
                              command.idempotency_key,
                              command.body_digest,
                              {arrival.job.spec->id},
                              tx.now()});
    }
    return std::move(arrival.job);
}

}  // namespace

std::vector<Result<Job>> replay_jobs(Transaction& tx, std::span<const ReplayJob> replays,
                                     Duration remembered) {
    std::vector<Result<Job>> answers;
    for (const ReplayJob& command : replays) answers.push_back(replay(tx, command, remembered));
    return answers;
}

}  // namespace sluice
