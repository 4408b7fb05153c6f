#pragma once

#include <functional>
#include <span>
#include <utility>
#include <vector>

#include "application/ports/commands.hpp"
#include "application/ports/store.hpp"

namespace sluice {

// Commands of one caller that wait for the next commit, and the callback for their answers.
template <class Item, class Answer>
struct Pending {
    std::vector<Item> items{};
    std::function<void(std::vector<Result<Answer>>)> done{};
    std::vector<Result<Answer>> answers{};  // one per item, once the engine has run
};

// Answers the commands that have no answer yet with the same refusal.
template <class Item, class Answer>
void refuse_others(std::span<Pending<Item, Answer>> pendings, const Error& error) {
    for (auto& pending : pendings) {
        while (pending.answers.size() < pending.items.size()) pending.answers.emplace_back(error);
    }
}

// Answers all commands with the same refusal.
template <class Item, class Answer>
void refuse_all(std::span<Pending<Item, Answer>> pendings, const Error& error) {
    for (auto& pending : pendings) pending.answers.clear();
    refuse_others(pendings, error);
}

// Everything that is decided in one transaction. The members are in the order in which they are
// run.
struct Batch {
    std::vector<Pending<ChangeLimits, LimitAnswer>> limit_changes{};     // in sessions of their own
    std::vector<Pending<CheckMeters, MeterDifferences>> meter_checks{};  // the same
    std::vector<Pending<Heartbeat, Extended>> heartbeats{};
    std::vector<Pending<AppendLogs, Appended>> logs{};
    std::vector<Pending<Report, Job>> reports{};
    std::vector<Pending<HandBack, Job>> hand_backs{};
    std::vector<Pending<CancelJob, Job>> cancels{};
    std::vector<Pending<ReleaseLease, Job>> lease_releases{};
    std::vector<Pending<EntityAction, EntityAnswer>> entity_actions{};
    std::vector<Pending<SubmitJobs, Submitted>> submits{};
    std::vector<Pending<ReplayJob, Job>> replays{};
    std::vector<Pending<ClaimJobs, Claimed>> claims{};
    std::vector<Pending<ExplainJob, Explanation>> explains{};
    std::vector<Pending<AskDepths, Depths>> depths{};
    std::vector<Pending<AskWorkers, WorkersSeen>> workers{};
    std::vector<Pending<AskLimits, LimitsNow>> limits{};
    std::vector<Pending<AskStart, StartNow>> starts{};
    std::vector<Pending<AskSources, SourcesNow>> sources{};
    std::vector<std::uint64_t> forgotten{};  // tickets of waiting claims whose callers went away

    // Messages of other committers of a shared store: lanes with claimable jobs, and when to look
    // for due work.
    std::vector<Readied> readied_elsewhere{};
    Timestamp look_at = never;

    // Calls `visit` with each list of pending commands.
    template <class Visit>
    void for_each_kind(Visit&& visit) {
        visit(limit_changes);
        visit(meter_checks);
        visit(heartbeats);
        visit(logs);
        visit(reports);
        visit(hand_backs);
        visit(cancels);
        visit(lease_releases);
        visit(entity_actions);
        visit(submits);
        visit(replays);
        visit(claims);
        visit(explains);
        visit(depths);
        visit(workers);
        visit(limits);
        visit(starts);
        visit(sources);
    }

    // The list that takes commands of this kind.
    template <class Item>
    auto& of() {
        if constexpr (std::is_same_v<Item, Heartbeat>)
            return heartbeats;
        else if constexpr (std::is_same_v<Item, AppendLogs>)
            return logs;
        else if constexpr (std::is_same_v<Item, Report>)
            return reports;
        else if constexpr (std::is_same_v<Item, HandBack>)
            return hand_backs;
        else if constexpr (std::is_same_v<Item, CancelJob>)
            return cancels;
        else if constexpr (std::is_same_v<Item, ReleaseLease>)
            return lease_releases;
        else if constexpr (std::is_same_v<Item, EntityAction>)
            return entity_actions;
        else if constexpr (std::is_same_v<Item, SubmitJobs>)
            return submits;
        else if constexpr (std::is_same_v<Item, ReplayJob>)
            return replays;
        else if constexpr (std::is_same_v<Item, ClaimJobs>)
            return claims;
        else if constexpr (std::is_same_v<Item, ExplainJob>)
            return explains;
        else if constexpr (std::is_same_v<Item, AskDepths>)
            return depths;
        else if constexpr (std::is_same_v<Item, AskWorkers>)
            return workers;
        else if constexpr (std::is_same_v<Item, ChangeLimits>)
            return limit_changes;
        else if constexpr (std::is_same_v<Item, CheckMeters>)
            return meter_checks;
        else if constexpr (std::is_same_v<Item, AskLimits>)
            return limits;
        else if constexpr (std::is_same_v<Item, AskStart>)
            return starts;
        else if constexpr (std::is_same_v<Item, AskSources>)
            return sources;
    }

    std::size_t size() {
        std::size_t count = 0;
        for_each_kind([&](auto& list) { count += list.size(); });
        return count;
    }

    // Answers everything with the same refusal, but for what sessions of their own have decided.
    void refuse(const Error& error) {
        for_each_kind([&](auto& list) {
            const void* const kind = &list;
            if (kind == &limit_changes || kind == &meter_checks) {
                refuse_others(std::span(list), error);
            } else {
                refuse_all(std::span(list), error);
            }
        });
    }

    // Hands every answer to its caller.
    void deliver() {
        for_each_kind([](auto& list) {
            for (auto& pending : list) pending.done(std::move(pending.answers));
        });
    }
};

// The pending form of a command, with the type of its answer.
template <class Item>
using PendingOf =
    typename std::remove_reference_t<decltype(std::declval<Batch&>().of<Item>())>::value_type;
template <class Item>
using AnswersTo = decltype(PendingOf<Item>::answers);

}  // namespace sluice
