#include <algorithm>

#include "simulation/world.hpp"

// What workers do to the engine, honest ones and others: claim, heartbeat, log, report, go silent,
// speak under leases that are over, and repeat themselves.
namespace sluice::simulation {
namespace {

using namespace std::chrono_literals;

constexpr Duration longest_term = 64s;

bool shares_key(const JobSpec& a, const JobSpec& b) {
    if (a.tenant != b.tenant) return false;
    const auto keys = held_keys(a);
    const auto others = held_keys(b);
    return std::any_of(keys.begin(), keys.end(), [&](const std::string& key) {
        return std::find(others.begin(), others.end(), key) != others.end();
    });
}

std::string name(LeaseId lease) {
    return "lease " + to_text(lease);
}

}  // namespace

void World::worker_speaks() {
    if (holdings_.empty() || dice_.one_in(3)) return claim(true);
    if (dice_.one_in(12)) return report_again();
    if (dice_.one_in(25)) return report_otherwise();

    // Mostly of the last leases; what is never picked again has gone silent.
    const int among = std::min<int>(static_cast<int>(holdings_.size()), dice_.one_in(5) ? 1000 : 8);
    const std::size_t place = holdings_.size() - 1 - static_cast<std::size_t>(dice_.below(among));
    if (holdings_[place].busy) return;
    switch (dice_.below(7)) {
        case 0:
        case 1: return heartbeat(place);
        case 2: return log(place);
        case 3: return dice_.one_in(3) ? hand_back(place) : heartbeat(place);
        default: return report(place);
    }
}

ClaimFilter World::random_filter() {
    ClaimFilter filter;
    filter.tenant = dice_.one_in(2) ? "acme" : "umbrella";
    if (dice_.one_in(4)) filter.queues = {"default"};
    if (dice_.one_in(4)) filter.types = {dice_.one_in(2) ? "build" : "deploy"};
    if (!dice_.one_in(3)) filter.labels = {"gpu"};
    return filter;
}

void World::claim(bool may_wait) {
    ClaimJobs command{.worker_id = "worker-" + std::to_string(dice_.below(5)),
                      .filter = random_filter(),
                      .limit = 1 + dice_.below(3),
                      .term = std::chrono::seconds(5 + dice_.below(30)),
                      .ticket = ++last_ticket_};
    if (may_wait && dice_.one_in(2)) {
        command.wait_until = now_ + std::chrono::seconds(1 + dice_.below(40));
        waiting_.push_back({command, put(batch_, command)});
        return;
    }
    send(Rank::claim, command,
         [this, command](const Result<Claimed>& answer) { read_claimed(command, answer); });
}

// A claim by itself gets the very job that is first in order.
void World::claim_by_the_book() {
    run_alone();
    ClaimJobs command{.worker_id = "bookkeeper",
                      .filter = random_filter(),
                      .limit = 1,
                      .term = 20s,
                      .ticket = ++last_ticket_};
    const bool on_time = !failed_at_ || now_ > *failed_at_ + 1s;
    const auto expected = checker_.first_claimable(command.filter, now_);
    send(Rank::claim, command, [=, this](const Result<Claimed>& answer) {
        read_claimed(command, answer);
        if (!answer || !on_time) return;
        const auto got = answer->empty() ? std::nullopt : std::optional(answer->front().spec.id);
        demand(got == expected, "a claim did not get the first job in order");
    });
    run_batch();
}

void World::read_claimed(const ClaimJobs& claim, const Result<Claimed>& answer) {
    note("claim", answer);
    if (!answer) {
        demand(answer.error().code == ErrorCode::unavailable, "claim: " + answer.error().message);
        return;
    }
    demand(std::ssize(*answer) <= claim.limit, "a claim got more than it asked for");
    for (const Job& job : *answer) take_over(claim, job);
}

void World::take_over(const ClaimJobs& claim, const Job& job) {
    note("claimed", Result<Job>(job));
    const LeaseId lease = lease_of(job);
    demand(job.state == JobState::running && job.lease->until == now_ + claim.term, name(lease));
    demand(claim.filter.accepts(lane_of(job.spec)),
           name(lease) + " is not what the claim asked for");
    demand(job.run_after <= now_, name(lease) + " came before its time");
    LeaseToken& newest = newest_tokens_[lease.job];
    demand(lease.token > newest, name(lease) + " is not newer than the one before it");
    newest = lease.token;
    for (const Holding& other : holdings_) {
        if (other.over || other.unsure || other.until <= now_) continue;
        demand(other.lease.job != lease.job, name(lease) + " overlaps with " + name(other.lease));
        demand(!shares_key(other.spec, job.spec),
               name(lease) + " shares a key with " + name(other.lease));
    }
    Holding holding;
    holding.lease = lease;
    holding.spec = job.spec;
    holding.until = job.lease->until;
    holdings_.push_back(std::move(holding));
}

bool World::is_superseded(const Holding& holding) const {
    return newest_tokens_.at(holding.lease.job) > holding.lease.token;
}

// A refusal must be for a reason that the worker can understand.
void World::check_refusal(Holding& holding, const Error& error, const char* what) {
    if (error.code == ErrorCode::unavailable) return;
    demand(error.code == ErrorCode::lease_lost, std::string(what) + ": " + error.message);
    demand(holding.over || holding.unsure || holding.until <= now_,
           name(holding.lease) + " was refused while it was alive");
    holding.over = true;
}

void World::heartbeat(std::size_t place) {
    Heartbeat command;
    command.lease = holdings_[place].lease;
    if (dice_.one_in(3)) command.progress = dice_.below(101);
    if (dice_.one_in(5)) command.term = std::chrono::seconds(5 + dice_.below(60));
    if (dice_.one_in(4)) command.message = "step " + std::to_string(dice_.below(9));
    send(Rank::heartbeat, command,
         [this, place, term = command.term](const Result<Extended>& answer) {
             Holding& holding = holdings_[place];
             note("heartbeat", answer);
             if (!answer && term)
                 holding.until = std::min(holding.until, now_ + *term);  // it may hold
             if (!answer) return check_refusal(holding, answer.error(), "heartbeat");
             demand(!holding.over && !is_superseded(holding),
                    name(holding.lease) + " came back to life");
             demand(answer->until > now_ && answer->until <= now_ + longest_term,
                    name(holding.lease));
             holding.until = answer->until;
         });
}

void World::log(std::size_t place) {
    AppendLogs command;
    command.lease = holdings_[place].lease;
    std::int64_t line = holdings_[place].line;
    if (line > 0 && dice_.one_in(4)) --line;  // one of them again
    const int count = 1 + dice_.below(4);
    for (int i = 0; i < count; ++i) {
        ++line;
        command.entries.push_back(
            {.message = name(command.lease) + " line " + std::to_string(line), .line = line});
    }
    send(Rank::lines, command, [this, place, line](const Result<Appended>& answer) {
        Holding& holding = holdings_[place];
        note("log", answer);
        if (!answer) return check_refusal(holding, answer.error(), "log");
        demand(!holding.over && !is_superseded(holding),
               name(holding.lease) + " wrote after its end");
        note_text(std::to_string(answer->last_seq) + " " + std::to_string(answer->stored));
        holding.line = std::max(holding.line, line);
    });
}

void World::report(std::size_t place) {
    Holding& holding = holdings_[place];
    holding.busy = true;
    Report report;
    if (holding.unanswered) {
        report = *holding.unanswered;
    } else {
        report.lease = holding.lease;
        static const std::vector<Outcome> outcomes{
            Outcome::succeeded, Outcome::succeeded, Outcome::succeeded, Outcome::failed,
            Outcome::failed,    Outcome::failed,    Outcome::canceled,  Outcome::timed_out};
        report.outcome = dice_.pick(outcomes);
        if (report.outcome == Outcome::succeeded) report.result = "{\"ok\":true}";
        if (report.outcome == Outcome::failed) report.error_code = "E_CHANCE";
        report.retryable = !dice_.one_in(5);
    }
    send(Rank::report, report, [this, place, report](const Result<Job>& answer) {
        read_reported(place, report, answer);
    });
}

void World::read_reported(std::size_t place, const Report& report, const Result<Job>& answer) {
    Holding& holding = holdings_[place];
    note("report", answer);
    if (!answer && answer.error().code == ErrorCode::unavailable) {
        if (!holding.over) {
            holding.unsure = true;
            holding.unanswered = report;
        }
        return;
    }
    if (!answer && answer.error().code != ErrorCode::conflict) {
        return check_refusal(holding, answer.error(), "report");
    }
    if (answer) {
        const bool repeats = std::any_of(sent_.begin(), sent_.end(), [&](const Sent& sent) {
            return sent.report.lease == report.lease && sent.report.outcome == report.outcome;
        });
        // A worker may say that it stopped, after it was told that its job had ended.
        const bool stops =
            report.outcome == Outcome::canceled && answer->state != JobState::succeeded;
        demand(!holding.over || holding.unsure || repeats || stops,
               name(holding.lease) + " reported after its end");
        const bool success = report.outcome == Outcome::succeeded;
        demand(!success || answer->state == JobState::succeeded, "a success was not kept");
        demand(answer->spec.id == report.lease.job, "the answer is about another job");
        sent_.push_back({report, *answer});
    }
    holding.over = true;
    holding.unanswered.reset();
}

void World::hand_back(std::size_t place) {
    holdings_[place].busy = true;
    const HandBack command{.lease = holdings_[place].lease, .reason = "chance"};
    send(Rank::hand_back, command, [this, place](const Result<Job>& answer) {
        Holding& holding = holdings_[place];
        note("hand back", answer);
        if (!answer && answer.error().code == ErrorCode::unavailable) holding.unsure = true;
        if (!answer) return check_refusal(holding, answer.error(), "hand back");
        demand(!holding.over && !is_superseded(holding),
               name(holding.lease) + " gave back too late");
        holding.over = true;
    });
}

// Whether the lease outlived its job, so that its report only said that the worker has stopped.
bool World::closed_after_the_end(LeaseId lease) {
    const auto events = reader_->events(lease.job, 0, 10'000);
    return std::any_of(events.begin(), events.end(), [&](const Event& event) {
        return event.lease == lease.token && event.step == Step::lease_closed;
    });
}

// The same report again, much later perhaps, is answered as it was then.
void World::report_again() {
    if (sent_.empty()) return;
    const Sent sent = dice_.pick(sent_);
    if (closed_after_the_end(sent.report.lease)) return;
    send(Rank::report, sent.report, [this, sent](const Result<Job>& answer) {
        note("report again", answer);
        if (!answer && answer.error().code == ErrorCode::unavailable) return;
        demand(
            answer && answer->state == sent.answer.state && answer->attempt == sent.answer.attempt,
            name(sent.report.lease) + ": a repeated report was not answered like the first");
    });
}

void World::report_otherwise() {
    if (sent_.empty()) return;
    Report other = dice_.pick(sent_).report;
    other.outcome = other.outcome == Outcome::succeeded ? Outcome::failed : Outcome::succeeded;
    other.error_code = "E_OTHER";
    send(Rank::report, other, [this, other](const Result<Job>& answer) {
        note("report otherwise", answer);
        demand(!answer, name(other.lease) + " reported two outcomes");
    });
}

}  // namespace sluice::simulation
