#include "application/jobs/submit_jobs.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "application/entities/entity_changes.hpp"
#include "application/entities/follow_jobs.hpp"
#include "application/entities/own_jobs.hpp"
#include "application/jobs/finish_jobs.hpp"
#include "application/jobs/repeated_requests.hpp"
#include "application/limits/submit_limits.hpp"
#include "domain/values/check.hpp"

namespace sluice {
namespace {

std::string pointer_to(const SubmitJobs& command, std::size_t index, std::string_view field) {
    return command.is_batch ? fmt::format("/jobs/{}/{}", index, field) : fmt::format("/{}", field);
}

// Whether jobs of one command depend on each other in a circle: repeatedly removes those that
// depend on nothing; a job that cannot be removed is in, or behind, a circle.
std::optional<std::size_t> find_cycle(const std::vector<std::vector<std::size_t>>& siblings) {
    std::vector<std::size_t> open(siblings.size());
    std::vector<std::vector<std::size_t>> waiting(siblings.size());
    std::vector<std::size_t> free;
    for (std::size_t i = 0; i < siblings.size(); ++i) {
        open[i] = siblings[i].size();
        for (const std::size_t other : siblings[i]) waiting[other].push_back(i);
        if (open[i] == 0) free.push_back(i);
    }
    while (!free.empty()) {
        const std::size_t next = free.back();
        free.pop_back();
        for (const std::size_t other : waiting[next]) {
            if (--open[other] == 0) free.push_back(other);
        }
    }
    const auto stuck =
        std::find_if(open.begin(), open.end(), [](std::size_t count) { return count > 0; });
    if (stuck == open.end()) return std::nullopt;
    return static_cast<std::size_t>(stuck - open.begin());
}

struct Dependencies {
    bool blocked = false;
    std::optional<Job> failed{};  // a dependency without success, when that matters
};

// Looks at the dependencies outside the command.
Result<Dependencies> look_at_dependencies(Transaction& tx, const SubmitJobs& command,
                                          std::size_t index) {
    const JobSpec& spec = command.jobs[index];
    Dependencies dependencies;
    if (spec.depends_on.empty()) return dependencies;
    auto found = tx.jobs().find(spec.depends_on);
    for (std::size_t i = 0; i < found.size(); ++i) {
        if (!found[i] || found[i]->spec->tenant != spec.tenant) {
            return Error{ErrorCode::invalid,
                         fmt::format("no job has the id {}", to_text(spec.depends_on[i])),
                         pointer_to(command, index, "depends_on")};
        }
        const JobState state = found[i]->now.state;
        if (!is_final(state)) {
            dependencies.blocked = true;
        } else if (state != JobState::succeeded &&
                   spec.on_dependency_failure == OnDependencyFailure::cancel) {
            dependencies.failed = std::move(found[i]);
        }
    }
    return dependencies;
}

std::optional<Error> refuse_cycle(const SubmitJobs& command) {
    if (command.siblings.empty()) return std::nullopt;
    const auto stuck = find_cycle(command.siblings);
    if (!stuck) return std::nullopt;
    return Error{ErrorCode::invalid, "these jobs wait for each other in a circle",
                 pointer_to(command, *stuck, "depends_on")};
}

// Gives the job its id and time, and turns references to its siblings into ids.
JobSpec settled_spec(Transaction& tx, const SubmitJobs& command, JobSpec spec, std::size_t index,
                     const std::vector<JobId>& ids) {
    spec.id = ids[index];
    spec.created_at = tx.now();
    spec.run_after = std::max(spec.run_after, tx.now());
    spec.idempotency_key = command.idempotency_key;
    if (command.siblings.empty()) return spec;
    for (const std::size_t sibling : command.siblings[index])
        spec.depends_on.push_back(ids[sibling]);
    std::sort(spec.depends_on.begin(), spec.depends_on.end());
    const auto repeats = std::unique(spec.depends_on.begin(), spec.depends_on.end());
    spec.depends_on.erase(repeats, spec.depends_on.end());
    return spec;
}

// Gathers the jobs of all commands of a batch, so that they are stored in one call.
class Intake {
  public:
    // `is_own`: the engine itself has made the jobs, and they have their ids.
    Intake(Transaction& tx, std::size_t jobs, bool is_own = false) : tx_(tx), is_own_(is_own) {
        arrivals_.reserve(jobs);
    }

    // Reads the entities that the jobs of all commands name, in one call of the store.
    void look_at_entities(std::span<const SubmitJobs> commands);

    // Accepts the command's jobs, or refuses it as a whole. Returns their ids.
    Result<std::vector<JobId>> accept(const SubmitJobs& command);

    // Stores the accepted jobs, and ends those whose dependencies had failed before.
    void store();

    // The jobs of a command as they were accepted. Only after store().
    std::vector<Job> hand_out(std::size_t first, std::size_t count);

    std::size_t size() const { return arrivals_.size(); }

  private:
    Transaction& tx_;
    bool is_own_;
    SubmitLimits limits_{tx_};
    std::vector<Arrival> arrivals_;
    std::vector<std::pair<std::size_t, Job>> doomed_;  // index, and the dependency that failed
    std::size_t stored_ = 0;
    std::optional<EntityChanges> changes_{};  // only for reads
};

void Intake::look_at_entities(std::span<const SubmitJobs> commands) {
    std::vector<EntityKey> keys;
    for (const SubmitJobs& command : commands) {
        for (const JobSpec& spec : command.jobs) {
            for (auto& followed : tx_.rules().kinds.followed_by(spec)) {
                keys.push_back(std::move(followed.key));
            }
        }
    }
    if (keys.empty()) return;
    std::sort(keys.begin(), keys.end());
    keys.erase(std::unique(keys.begin(), keys.end()), keys.end());
    changes_.emplace(tx_, engine_actor).looks().find(keys);
}

Result<std::vector<JobId>> Intake::accept(const SubmitJobs& command) {
    if (auto refusal = refuse_cycle(command)) return *std::move(refusal);
    std::vector<Dependencies> dependencies;
    dependencies.reserve(command.jobs.size());
    for (std::size_t i = 0; i < command.jobs.size(); ++i) {
        auto looked = look_at_dependencies(tx_, command, i);
        if (!looked) return looked.error();
        if (!command.siblings.empty() && !command.siblings[i].empty()) looked->blocked = true;
        dependencies.push_back(std::move(*looked));
    }

    if (!is_own_) {
        for (std::size_t i = 0; i < command.jobs.size(); ++i) {
            if (auto refusal = limits_.refuse(command.jobs[i])) {
                if (command.is_batch) refusal->pointer.insert(0, fmt::format("/jobs/{}", i));
                return *std::move(refusal);
            }
        }
    }
    std::vector<JobSpec> specs = command.jobs;
    EntityReader& looks = changes_ ? changes_->looks() : tx_.reader().entities();
    for (std::size_t i = 0; i < specs.size(); ++i) {
        if (auto refusal = prepare_to_follow(tx_.rules(), looks, specs[i], is_own_)) {
            if (command.is_batch) refusal->pointer.insert(0, fmt::format("/jobs/{}", i));
            return *std::move(refusal);
        }
    }
    std::vector<JobId> ids(command.jobs.size());
    for (std::size_t i = 0; i < ids.size(); ++i) {
        ids[i] = is_own_ ? specs[i].id : tx_.next_job_id();
    }
    for (std::size_t i = 0; i < command.jobs.size(); ++i) {
        Job job = accepted(settled_spec(tx_, command, std::move(specs[i]), i, ids));
        tx_.record(job, Step::submitted, std::nullopt, command.actor);
        if (dependencies[i].failed)
            doomed_.emplace_back(arrivals_.size(), *std::move(dependencies[i].failed));
        arrivals_.push_back({std::move(job), dependencies[i].blocked});
    }
    return ids;
}

void Intake::store() {
    if (stored_ < arrivals_.size()) {
        tx_.jobs().put(std::span(arrivals_).subspan(stored_));
        stored_ = arrivals_.size();
    }
    std::vector<Job> ended;
    for (const auto& [index, dependency] : doomed_) {
        ended.push_back(arrivals_[index].job);
        cancel_for_dependency(tx_, ended.back(), dependency.spec->id, dependency.now.state);
    }
    doomed_.clear();
    if (!ended.empty()) changes_.reset();  // their entities may move with them
    finish_jobs(tx_, ended);
}

std::vector<Job> Intake::hand_out(std::size_t first, std::size_t count) {
    std::vector<Job> jobs;
    jobs.reserve(count);
    for (std::size_t i = first; i < first + count; ++i) jobs.push_back(std::move(arrivals_[i].job));
    return jobs;
}

// The request for which the command's key was used before, while that is remembered.
Result<std::optional<IdempotentRequest>> remembered_request(Transaction& tx,
                                                            const SubmitJobs& command,
                                                            Duration remembered) {
    if (command.idempotency_key.empty()) return std::optional<IdempotentRequest>{};
    return find_repeated(tx, command.jobs.front().tenant, command.idempotency_key,
                         command.body_digest, remembered);
}

}  // namespace

std::vector<Result<Submitted>> submit_jobs(Transaction& tx, std::span<const SubmitJobs> commands,
                                           Duration remembered) {
    std::size_t jobs = 0;
    for (const SubmitJobs& command : commands) jobs += command.jobs.size();
    Intake intake(tx, jobs);
    intake.look_at_entities(commands);
    std::vector<Result<Submitted>> answers(commands.size(), Submitted{});
    std::vector<std::size_t> first_indexes(commands.size());
    for (std::size_t i = 0; i < commands.size(); ++i) {
        const SubmitJobs& command = commands[i];
        first_indexes[i] = intake.size();
        const auto before = remembered_request(tx, command, remembered);
        if (!before) {
            answers[i] = before.error();
        } else if (*before) {
            intake.store();  // the first request with this key may be in this very batch
            answers[i] = Submitted{jobs_as_accepted(tx, **before), true};
        } else {
            const std::string tenant = command.jobs.front().tenant;
            auto ids = intake.accept(command);
            if (!ids) {
                answers[i] = ids.error();
            } else if (!command.idempotency_key.empty()) {
                tx.idempotency().put({tenant, command.idempotency_key, command.body_digest,
                                      *std::move(ids), tx.now()});
            }
        }
    }
    intake.store();
    for (std::size_t i = 0; i < commands.size(); ++i) {
        const std::size_t end = i + 1 < commands.size() ? first_indexes[i + 1] : intake.size();
        if (answers[i] && !answers[i]->repeated) {
            answers[i]->jobs = intake.hand_out(first_indexes[i], end - first_indexes[i]);
        }
    }
    return answers;
}

std::vector<Job> submit_own(Transaction& tx, std::span<const JobSpec> specs,
                            const std::string& actor) {
    Intake intake(tx, specs.size(), true);
    for (const JobSpec& spec : specs) {
        if (!spec.depends_on.empty()) intake.store();  // a dependency may be among these
        SubmitJobs command;
        command.jobs.push_back(spec);
        command.actor = actor;
        const auto accepted = intake.accept(command);
        check(static_cast<bool>(accepted), "a job of the engine's own making is accepted");
    }
    intake.store();
    return intake.hand_out(0, specs.size());
}

}  // namespace sluice
