#pragma once

#include <functional>
#include <optional>
#include <utility>
#include <vector>

#include "application/ports/batch.hpp"
#include "application/ports/store_refusal.hpp"

namespace sluice {

// Commands wait here for the next commit. Called on the I/O thread, where the answers arrive, too.
class CommandQueue {
  public:
    virtual ~CommandQueue() = default;

    // Queues commands that are decided together with all others that wait, and calls `done` with
    // one answer per item after they are on disk. When too much waits already, they are refused as
    // unavailable at once.
    template <class Item>
    void post(std::vector<Item> items, std::function<void(AnswersTo<Item>)> done) {
        PendingOf<Item> pending{.items = std::move(items), .done = std::move(done)};
        const Load load{.rows = rows_of(pending.items), .bytes = bytes_of(pending.items)};
        const Route route = route_of(pending.items);
        const auto put = [&](Batch& batch) { batch.of<Item>().push_back(std::move(pending)); };
        if (add(route, load, put)) return;

        pending.done(AnswersTo<Item>(pending.items.size(), too_much_waits()));
    }

    template <class Item>
    void post_one(Item item, std::function<void(typename AnswersTo<Item>::value_type)> done) {
        std::vector<Item> items;
        items.push_back(std::move(item));
        post<Item>(std::move(items), [done = std::move(done)](AnswersTo<Item> answers) {
            done(std::move(answers.front()));
        });
    }

    // Calls `done` with nothing once all committers have just committed, and with the reason as
    // soon as one of them cannot.
    virtual void ask_ready(std::function<void(std::optional<Error>)> done) {
        post_one<AskDepths>({.count = false}, [done = std::move(done)](const auto& depths) {
            done(depths ? std::nullopt : std::optional(depths.error()));
        });
    }

    // Withdraws a waiting claim; it is answered with no jobs, unless it has been served already.
    virtual void forget(std::uint64_t ticket) = 0;

  protected:
    // The committer that decides, of several: the one where claims wait, or any; commands about one
    // job, and those about one entity, go to the same committer, so that committers seldom wait for
    // each other.
    struct Route {
        bool to_claims = false;
        JobId job{};  // or the watch_id of an entity; none: any will do
    };

    // The size of commands that wait.
    struct Load {
        std::size_t rows = 0;
        std::size_t bytes = 0;  // of their contents
    };

    // Calls `put` with a batch that has space for this load, or returns false when too much waits.
    virtual bool add(Route route, Load load, const std::function<void(Batch&)>& put) = 0;

  private:
    template <class Item>
    static Route route_of(const std::vector<Item>& items) {
        if constexpr (requires(Item item) { item.lease.job; }) {
            return {.job = items.front().lease.job};
        } else if constexpr (std::is_same_v<Item, CancelJob> ||
                             std::is_same_v<Item, ReleaseLease>) {
            return {.job = items.front().job};
        } else if constexpr (std::is_same_v<Item, EntityAction>) {
            const auto& touches = items.front().touches;
            return {.job = touches.empty() ? JobId{} : watch_id(touches.front())};
        } else if constexpr (std::is_same_v<Item, SubmitJobs> || std::is_same_v<Item, ReplayJob>) {
            return {};
        } else {
            return {.to_claims = true};
        }
    }

    template <class Item>
    static std::size_t rows_of(const std::vector<Item>& items) {
        std::size_t rows = items.size();
        if constexpr (std::is_same_v<Item, SubmitJobs>) {
            for (const SubmitJobs& item : items) rows += item.jobs.size();
        } else if constexpr (std::is_same_v<Item, AppendLogs>) {
            for (const AppendLogs& item : items) rows += item.entries.size();
        } else if constexpr (std::is_same_v<Item, ClaimJobs>) {
            for (const ClaimJobs& item : items) rows += static_cast<std::size_t>(item.limit);
        }
        return rows;
    }

    static std::size_t bytes_of(const SubmitJobs& item) {
        std::size_t bytes = 0;
        for (const JobSpec& job : item.jobs) bytes += job.payload.size();
        return bytes;
    }
    static std::size_t bytes_of(const AppendLogs& item) { return sluice::bytes_of(item); }
    static std::size_t bytes_of(const Report& item) {
        return item.result.size() + item.error_message.size();
    }

    template <class Item>
    static std::size_t bytes_of(const std::vector<Item>& items) {
        std::size_t bytes = 0;
        for (const Item& item : items) {
            if constexpr (std::is_same_v<Item, EntityAction>) {
                bytes += action_bytes;
            } else if constexpr (requires { bytes_of(item); }) {
                bytes += bytes_of(item);
            }
        }
        return bytes;
    }

    // The captures of an action's function cannot be measured; this is more than most have.
    static constexpr std::size_t action_bytes = 16 * 1024;
};

}  // namespace sluice
