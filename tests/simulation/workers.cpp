#include <algorithm>

#include "simulation/world.hpp"

// Messages of workers, honest ones and others: claim, heartbeat, log, report, go silent, send
// messages under leases that are over, and repeat themselves.
namespace sluice::simulation {
namespace {

using namespace std::chrono_literals;

// Whether a report was refused because jobs of this type do not fail without a reason.
bool lacks_reason(const Holding& holding, const Report& said, const Error& error) {
    return error.code == ErrorCode::invalid && holding.spec.type == site_job_type &&
           said.outcome == Outcome::failed && said.error_message.empty();
}

}  // namespace

Task<void> World::worker(int number) {
    for (;;) {
        co_await timeline_.sleep(1ms * dice_.below(is_chaos() ? 2000 : 300));
        const ClaimJobs claim = new_claim(number);
        const Duration wait = claim.wait_until ? *claim.wait_until - at(0) : 0s;
        const auto reply = co_await ask("claim", claim, wait + 8s);
        if (!reply.is_ok()) continue;
        const Claimed& jobs = **reply.answer;
        demand(std::ssize(jobs) <= claim.limit, "a claim got more than it asked for");
        std::vector<std::size_t> places;
        for (const Job& job : jobs) {
            places.push_back(ledger_.claimed(claim, job, reply.asked, reply.heard));
        }
        for (const std::size_t place : places) co_await work_on(place);
    }
}

// In the end each tenant has a worker that takes everything.
ClaimJobs World::new_claim(int number) {
    ClaimJobs claim{.worker_id = "worker-" + std::to_string(number),
                    .limit = is_chaos() ? 1 + dice_.below(2) : 1,
                    .term = 1s * (3 + dice_.below(12))};
    claim.filter.tenant = number % 2 == 0 ? "acme" : "umbrella";
    if (is_chaos()) {
        if (dice_.one_in(4)) claim.filter.queues = {"default"};
        if (dice_.one_in(4)) claim.filter.types = {dice_.one_in(2) ? "build" : "deploy"};
    }
    if (!is_chaos() || !dice_.one_in(3)) claim.filter.labels = {"gpu"};
    if (!is_chaos() || dice_.one_in(2)) claim.wait_until = at(0) + 1s * (1 + dice_.below(30));
    return claim;
}

Task<void> World::work_on(std::size_t place) {
    if (happens(weather_.vanishes)) {
        coverage_.fault("worker vanishes");
        co_return;
    }
    for (int parts = dice_.below(3); parts > 0; --parts) {
        co_await timeline_.sleep(1ms * dice_.below(is_chaos() ? 6000 : 1000));
        if (dice_.one_in(2)) {
            co_await log(place);
        } else {
            co_await heartbeat(place);
        }
        // A worker that was told to stop mostly does.
        if (ledger_.holding(place).is_over() && !dice_.one_in(8)) co_return;
    }
    if (happens(weather_.pauses)) {
        coverage_.fault("worker pauses beyond its lease");
        co_await timeline_.sleep(ledger_.holding(place).term + 1ms * dice_.below(10'000));
    }
    co_await finish(place);
}

Task<void> World::finish(std::size_t place) {
    if (is_chaos() && dice_.one_in(10)) {
        co_await hand_back(place);
    } else {
        co_await report(place);
    }
    if (!is_chaos()) co_return;
    if (dice_.one_in(12)) co_await heartbeat(place);  // under a lease that is over
    if (dice_.one_in(12)) co_await log(place);
    if (dice_.one_in(12)) co_await hand_back(place);
    if (dice_.one_in(12)) co_await speak_for_others(place);
}

Task<void> World::heartbeat(std::size_t place) {
    Holding& holding = ledger_.holding(place);
    Heartbeat said;
    said.lease = holding.lease;
    if (dice_.one_in(3)) said.progress = dice_.below(101);
    if (dice_.one_in(5)) said.term = 1s * (3 + dice_.below(20));
    if (dice_.one_in(4)) said.message = "step " + std::to_string(dice_.below(9));
    ledger_.speaks(holding);
    ledger_.may_shorten(holding, said, timeline_.now());
    const auto reply = co_await ask("heartbeat", said);
    if (reply.is_ok()) {
        ledger_.extended(holding, **reply.answer, reply.asked);
    } else if (reply.answer) {
        ledger_.refused(holding, reply.answer->error(), reply.asked, reply.heard, holding.unsure);
    }
}

Task<void> World::log(std::size_t place) {
    Holding& holding = ledger_.holding(place);
    AppendLogs said;
    said.lease = holding.lease;
    if (holding.line > 0 && dice_.one_in(4)) --holding.line;  // repeats one of them
    for (int count = dice_.below(4); count >= 0; --count) {
        ++holding.line;
        said.entries.push_back(
            {.message = to_text(said.lease) + " line " + std::to_string(holding.line),
             .line = holding.line});
    }
    ledger_.speaks(holding);
    const auto reply = co_await ask("logs", said);
    if (reply.is_ok()) {
        ledger_.logged(holding, said, reply.asked);
    } else if (reply.answer) {
        ledger_.refused(holding, reply.answer->error(), reply.asked, reply.heard, holding.unsure);
    }
}

Task<void> World::hand_back(std::size_t place) {
    Holding& holding = ledger_.holding(place);
    const HandBack said{.lease = holding.lease, .reason = "chance"};
    ledger_.speaks(holding);
    const bool was_unsure = std::exchange(holding.unsure, holding.unsure || !holding.is_over());
    const auto reply = co_await ask("hand back", said);
    if (reply.is_ok()) {
        ledger_.handed_back(holding, reply.asked, reply.heard);
    } else if (reply.answer) {
        ledger_.refused(holding, reply.answer->error(), reply.asked, reply.heard,
                        was_unsure || reply.repeated);
    }
}

Report World::new_report(const Holding& holding) {
    static const std::vector<Outcome> outcomes{
        Outcome::succeeded, Outcome::succeeded, Outcome::succeeded, Outcome::failed,
        Outcome::failed,    Outcome::failed,    Outcome::canceled,  Outcome::timed_out};
    Report report;
    report.lease = holding.lease;
    report.outcome = is_chaos() ? dice_.pick(outcomes) : Outcome::succeeded;
    if (report.outcome == Outcome::succeeded) {
        report.result = "{\"by\":\"" + to_text(holding.lease) + "\"}";
    }
    if (report.outcome == Outcome::failed) {
        report.error_code = "E_CHANCE";
        // Some give no reason, which jobs of sites need.
        if (holding.lease.token.value % 4 != 0) report.error_message = "chance";
    }
    report.retryable = !dice_.one_in(5);
    return report;
}

// Sends the report until there is an answer.
Task<void> World::report(std::size_t place) {
    Holding& holding = ledger_.holding(place);
    Report said = new_report(holding);
    for (int tries = 8; tries > 0; --tries) {
        ledger_.speaks(holding);
        const bool was_unsure = std::exchange(holding.unsure, holding.unsure || !holding.is_over());
        const auto reply = co_await ask("report", said);
        if (reply.is_ok()) {
            ledger_.reported(holding, said, **reply.answer, reply.asked, reply.heard);
            break;
        }
        if (reply.answer && lacks_reason(holding, said, reply.answer->error())) {
            said.error_message = "chance";  // the lease was not changed
            holding.unsure = was_unsure;
            continue;
        }
        if (reply.answer && !is_passing(reply.answer->error().code)) {
            ledger_.refused(holding, reply.answer->error(), reply.asked, reply.heard,
                            was_unsure || reply.repeated);
            break;
        }
        co_await timeline_.sleep(1ms * dice_.below(2000));
    }
    if (is_chaos() && dice_.one_in(8)) co_await say_again(place, said);
}

// Whether the lease outlived its job, so that its report only said that the worker has stopped.
bool World::closed_after_the_end(LeaseId lease) {
    const auto events = checker_.reader().events(lease.job, 0, 10'000);
    return std::any_of(events.begin(), events.end(), [&](const Event& event) {
        return event.lease == lease.token && event.step == Step::lease_closed;
    });
}

// The same report again, perhaps much later, is answered as it was then; another one is never
// accepted.
Task<void> World::say_again(std::size_t place, Report said) {
    const auto& sent = ledger_.sent();
    const auto before = std::find_if(sent.rbegin(), sent.rend(), [&](const Ledger::Sent& one) {
        return one.report.lease == said.lease;
    });
    if (before == sent.rend()) co_return;
    const Job answer = before->answer;
    const bool differs = dice_.one_in(2);
    if (differs) {
        said.outcome = said.outcome == Outcome::succeeded ? Outcome::failed : Outcome::succeeded;
        said.error_code = "E_OTHER";
    }
    co_await timeline_.sleep(1ms * dice_.below(40'000));
    if (!around_.disk.is_shared() && !nodes_.front()->is_up()) co_return;
    if (!differs && closed_after_the_end(said.lease)) co_return;
    const auto reply = co_await ask("report", said);
    const LeaseId lease = ledger_.holding(place).lease;
    demand(!differs || !reply.is_ok(), lease, " reported two outcomes");
    if (differs || !reply.answer) co_return;
    if (!reply.is_ok() && is_passing(reply.answer->error().code)) co_return;
    if (refusal(*reply.answer) == ErrorCode::not_found && checker_.removed().contains(lease.job)) {
        co_return;
    }
    demand(reply.is_ok() && (*reply.answer)->now.state == answer.now.state &&
               (*reply.answer)->now.attempt == answer.now.attempt,
           lease, ": a repeated report was not answered like the first");
}

// A worker of another tenant learns nothing of the lease.
Task<void> World::speak_for_others(std::size_t place) {
    const Holding& holding = ledger_.holding(place);
    WorkerBounds bounds;
    bounds.tenant = holding.spec.tenant == "acme" ? "umbrella" : "acme";
    Heartbeat beat;
    beat.lease = holding.lease;
    beat.bounds = bounds;
    const auto heard = co_await ask("heartbeat", beat);
    demand_unknown(heard.answer);
    Report said;
    said.lease = holding.lease;
    said.bounds = bounds;
    const auto reply = co_await ask("report", said);
    demand_unknown(reply.answer);
    AppendLogs lines;
    lines.lease = holding.lease;
    lines.bounds = bounds;
    lines.entries.push_back({.message = "of another tenant", .line = holding.line + 1});
    const auto logged = co_await ask("logs", lines);
    demand_unknown(logged.answer);
    HandBack back;
    back.lease = holding.lease;
    back.bounds = bounds;
    const auto handed = co_await ask("hand back", back);
    demand_unknown(handed.answer);
}

}  // namespace sluice::simulation
