#include "interfaces/worker/engine/engine_desk.hpp"

#include <algorithm>
#include <atomic>
#include <future>
#include <mutex>
#include <set>

#include "domain/jobs/ids.hpp"

namespace sluice::worker {
namespace {

using client::LeaseAnswer;
using client::Millis;

constexpr std::chrono::seconds patience{10};

// Claims of HTTP clients get tickets that count up from one; these never meet them.
std::uint64_t next_ticket() {
    static std::atomic<std::uint64_t> last{1ULL << 63};
    return ++last;
}

[[noreturn]] void throw_unavailable(const std::string& why, const char* code = "unavailable") {
    throw client::Error(client::ErrorKind::unavailable, 503, code, why);
}

bool is_passing(ErrorCode code) {
    return code == ErrorCode::unavailable || code == ErrorCode::store_full ||
           code == ErrorCode::shutting_down;
}

// The lease's state after this refusal. Throws when the call may be sent again.
LeaseAnswer lease_answer_of(const Error& error) {
    if (error.code == ErrorCode::store_full) throw_unavailable(error.message, "store_full");
    if (is_passing(error.code)) throw_unavailable(error.message);
    const bool is_gone = error.code == ErrorCode::lease_lost || error.code == ErrorCode::not_found;
    return is_gone ? LeaseAnswer::lost : LeaseAnswer::refused;
}

template <class Answer>
LeaseAnswer lease_answer_of(const Result<Answer>& answer) {
    if (!answer) return lease_answer_of(answer.error());
    if constexpr (std::is_same_v<Answer, Extended>) {
        if (answer->stop_requested) return LeaseAnswer::stop_requested;
    }
    return LeaseAnswer::held;
}

// One answer on its way from the I/O thread to the waiting thread. When it is dropped, the future
// says so.
template <class Answers>
struct Reply {
    std::future<Answers> answers{};
    // Whether it was answered, or is not waited for any more.
    std::shared_ptr<std::atomic<bool>> is_settled = std::make_shared<std::atomic<bool>>(false);
};

std::vector<std::string> sorted(std::vector<std::string> names) {
    std::sort(names.begin(), names.end());
    names.erase(std::unique(names.begin(), names.end()), names.end());
    return names;
}

std::vector<std::string> texts_of(const std::vector<JobId>& ids) {
    std::vector<std::string> texts;
    for (const JobId id : ids) texts.push_back(to_text(id));
    return texts;
}

client::State state_of(JobState state) {
    return client::parse_state(to_text(state)).value_or(client::State::running);
}

client::Backoff backoff_of(const Backoff& backoff) {
    client::Backoff told{.kind = static_cast<client::Backoff::Kind>(backoff.kind),
                         .base = Millis(to_millis(backoff.base)),
                         .cap = Millis(to_millis(backoff.cap))};
    for (const Duration delay : backoff.delays) told.delays.emplace_back(to_millis(delay));
    return told;
}

client::Job told(Job job) {
    const JobSpec& spec = job.spec;
    return {.id = to_text(spec.id),
            .tenant = spec.tenant,
            .project = spec.project,
            .queue = spec.queue,
            .type = spec.type,
            .state = state_of(job.now.state),
            .entity_type = spec.entity_type,
            .entity_id = spec.entity_id,
            .site_id = spec.site_id,
            .node_id = spec.node_id,
            .exclusive_keys = spec.exclusive_keys,
            .labels = spec.labels,
            .depends_on = texts_of(spec.depends_on),
            .on_dependency_failure =
                client::parse_on_dependency_failure(to_text(spec.on_dependency_failure))
                    .value_or(client::OnDependencyFailure::cancel),
            .priority = spec.priority,
            .payload = *spec.payload,
            .result = std::move(job.now.result),
            .error_code = std::move(job.now.error_code),
            .error_message = std::move(job.now.error_message),
            .attempt = job.now.attempt,
            .max_attempts = spec.max_attempts,
            .backoff = backoff_of(spec.backoff),
            .timeout = Millis(to_millis(spec.timeout)),
            .progress = job.now.progress,
            .message = std::move(job.now.message),
            .locked_by = job.lease ? job.lease->worker_id : "",
            .replay_of = spec.replay_of ? to_text(*spec.replay_of) : "",
            .source = spec.source,
            .correlation_id = spec.correlation_id,
            .run_after = job.now.run_after,
            .created_at = spec.created_at,
            .started_at = job.now.started_at,
            .completed_at = job.now.completed_at,
            .lease_until = job.lease ? std::optional(job.lease->until) : std::nullopt,
            .revision = job.now.head.seq};
}

LeaseId lease_of(const std::string& text) {
    const auto lease = parse_lease_id(text);
    if (!lease) {
        throw client::Error(client::ErrorKind::usage, 0, "", text + " is not a lease id");
    }
    return *lease;
}

LogEntry entry_of(const client::LogEntry& entry) {
    return {.level = parse_log_level(client::to_text(entry.level)).value_or(LogLevel::info),
            .message = entry.message,
            .data = entry.data,
            .at = entry.at,
            .line = entry.line};
}

Outcome outcome_of(client::Outcome::Kind kind) {
    switch (kind) {
        case client::Outcome::Kind::succeeded: return Outcome::succeeded;
        case client::Outcome::Kind::failed: return Outcome::failed;
        case client::Outcome::Kind::canceled: return Outcome::canceled;
        case client::Outcome::Kind::timed_out: return Outcome::timed_out;
    }
    return Outcome::failed;
}

Report report_of(const client::ReportRequest& request) {
    return {.lease = lease_of(request.lease_id),
            .outcome = outcome_of(request.outcome.kind),
            .result = request.outcome.result,
            .error_code = request.outcome.error_code,
            .error_message = request.outcome.error_message,
            .retryable = request.outcome.retryable};
}

template <class Answers>
Answers wait_for(Reply<Answers> reply, Millis time) {
    const bool is_late = reply.answers.wait_for(time) != std::future_status::ready;
    if (is_late && !reply.is_settled->exchange(true)) {
        throw_unavailable("the engine in this process did not answer in time");
    }
    try {
        return reply.answers.get();
    } catch (const std::future_error&) {
        throw_unavailable("the engine in this process is stopping");
    }
}

// Gives jobs back that came after the wait for the claim had ended.
void give_back(CommandQueue& commands, const Claimed& jobs) {
    std::vector<HandBack> hand_backs;
    for (const Job& job : jobs) {
        hand_backs.push_back({.lease = {job.spec->id, job.lease->token},
                              .reason = "the worker did not wait for it"});
    }
    if (!hand_backs.empty()) commands.post<HandBack>(std::move(hand_backs), [](auto) {});
}

class EngineDesk : public client::Desk {
  public:
    EngineDesk(CommandQueue& commands, Clock& clock, OnIoThread on_io_thread)
        : commands_(commands), clock_(clock), on_io_thread_(std::move(on_io_thread)) {}

    std::vector<client::LeasedJob> claim(const client::ClaimRequest& request) override;
    std::vector<LeaseAnswer> heartbeat(std::span<const client::HeartbeatRequest> requests) override;
    LeaseAnswer append_logs(const std::string& lease_id,
                            std::span<const client::LogEntry> entries) override;
    std::vector<LeaseAnswer> report(std::span<const client::ReportRequest> requests) override;
    LeaseAnswer release(const std::string& lease_id, const std::string& reason) override;
    void stop_waiting() override;

  private:
    template <class Item>
    Reply<AnswersTo<Item>> post(std::vector<Item> items);
    template <class Item>
    AnswersTo<Item> ask(std::vector<Item> items) {
        return wait_for(post(std::move(items)), patience);
    }
    template <class Item>
    std::vector<LeaseAnswer> lease_answers(std::vector<Item> items);

    struct NoLongerWaiting {
        EngineDesk& desk;
        std::uint64_t ticket;
        ~NoLongerWaiting() {
            const std::lock_guard lock(desk.mutex_);
            desk.waiting_.erase(ticket);
        }
    };

    CommandQueue& commands_;
    Clock& clock_;
    const OnIoThread on_io_thread_;
    std::mutex mutex_;
    std::set<std::uint64_t> waiting_;  // tickets of claims
    bool may_wait_ = true;
};

template <class Item>
Reply<AnswersTo<Item>> EngineDesk::post(std::vector<Item> items) {
    Reply<AnswersTo<Item>> reply;
    const auto promise = std::make_shared<std::promise<AnswersTo<Item>>>();
    reply.answers = promise->get_future();
    auto done = [&commands = commands_, promise,
                 is_settled = reply.is_settled](AnswersTo<Item> answers) {
        if (!is_settled->exchange(true)) {
            promise->set_value(std::move(answers));
        } else if constexpr (std::is_same_v<Item, ClaimJobs>) {
            for (const Result<Claimed>& jobs : answers) {
                if (jobs) give_back(commands, *jobs);
            }
        }
    };
    on_io_thread_(
        [&commands = commands_, items = std::move(items), done = std::move(done)]() mutable {
            commands.post<Item>(std::move(items), std::move(done));
        });
    return reply;
}

template <class Item>
std::vector<LeaseAnswer> EngineDesk::lease_answers(std::vector<Item> items) {
    std::vector<LeaseAnswer> all;
    for (const auto& answer : ask(std::move(items))) all.push_back(lease_answer_of(answer));
    return all;
}

std::vector<client::LeasedJob> EngineDesk::claim(const client::ClaimRequest& request) {
    ClaimJobs command{.worker_id = request.worker_id,
                      .filter = {.tenant = request.tenant,
                                 .any_tenant = request.tenant.empty(),
                                 .queues = sorted(request.queues),
                                 .types = sorted(request.types),
                                 .labels = sorted(request.labels)},
                      .limit = request.limit,
                      .term = request.lease,
                      .ticket = next_ticket()};
    const std::uint64_t ticket = command.ticket;
    Reply<AnswersTo<ClaimJobs>> reply;
    {
        const std::lock_guard lock(mutex_);
        if (may_wait_ && request.wait > Millis{0}) {
            command.wait_until = clock_.now() + request.wait;
            waiting_.insert(ticket);
        }
        std::vector<ClaimJobs> commands;
        commands.push_back(std::move(command));
        reply = post(std::move(commands));
    }
    const NoLongerWaiting at_end{*this, ticket};
    Result<Claimed> jobs = std::move(wait_for(std::move(reply), request.wait + patience).front());
    if (!jobs) {
        lease_answer_of(jobs.error());
        throw client::Error(client::ErrorKind::refused, 422, "invalid", jobs.error().message);
    }
    std::vector<client::LeasedJob> leased;
    leased.reserve(jobs->size());
    for (Job& job : *jobs) {
        const LeaseId lease{job.spec->id, job.lease->token};
        leased.push_back({to_text(lease), told(std::move(job))});
    }
    return leased;
}

std::vector<LeaseAnswer> EngineDesk::heartbeat(std::span<const client::HeartbeatRequest> requests) {
    std::vector<Heartbeat> items;
    for (const client::HeartbeatRequest& request : requests) {
        items.push_back({.lease = lease_of(request.lease_id),
                         .progress = request.progress,
                         .message = request.message});
    }
    return lease_answers(std::move(items));
}

LeaseAnswer EngineDesk::append_logs(const std::string& lease_id,
                                    std::span<const client::LogEntry> entries) {
    AppendLogs item{.lease = lease_of(lease_id)};
    for (const client::LogEntry& entry : entries) item.entries.push_back(entry_of(entry));
    std::vector<AppendLogs> items;
    items.push_back(std::move(item));
    return lease_answers(std::move(items)).front();
}

std::vector<LeaseAnswer> EngineDesk::report(std::span<const client::ReportRequest> requests) {
    std::vector<Report> items;
    for (const client::ReportRequest& request : requests) items.push_back(report_of(request));
    return lease_answers(std::move(items));
}

LeaseAnswer EngineDesk::release(const std::string& lease_id, const std::string& reason) {
    return lease_answers(std::vector<HandBack>{{.lease = lease_of(lease_id), .reason = reason}})
        .front();
}

void EngineDesk::stop_waiting() {
    const std::lock_guard lock(mutex_);
    may_wait_ = false;
    for (const std::uint64_t ticket : waiting_) {
        on_io_thread_([&commands = commands_, ticket] { commands.forget(ticket); });
    }
}

}  // namespace

std::unique_ptr<client::Desk> engine_desk(CommandQueue& commands, Clock& clock,
                                          OnIoThread on_io_thread) {
    return std::make_unique<EngineDesk>(commands, clock, std::move(on_io_thread));
}

}  // namespace sluice::worker
