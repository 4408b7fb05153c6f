#pragma once

#include <iterator>
#include <span>
#include <vector>

#include "application/ports/batch.hpp"
#include "application/ports/store_space.hpp"

namespace sluice {

// The items of all commands of a kind in one row. The destructor moves them back in any case: when
// the store fails in between they are decided again.
template <class Item, class Answer>
class Gathered {
  public:
    explicit Gathered(std::span<Pending<Item, Answer>> pendings) : pendings_(pendings) {
        all_.reserve(pendings.size());
        for (auto& pending : pendings) {
            std::move(pending.items.begin(), pending.items.end(), std::back_inserter(all_));
        }
    }
    ~Gathered() {
        auto item = all_.begin();
        for (auto& pending : pendings_) {
            const auto count = static_cast<std::ptrdiff_t>(pending.items.size());
            std::move(item, item + count, pending.items.begin());
            item += count;
        }
    }
    Gathered(const Gathered&) = delete;
    Gathered& operator=(const Gathered&) = delete;

    std::span<const Item> all() const { return all_; }

  private:
    std::span<Pending<Item, Answer>> pendings_;
    std::vector<Item> all_;
};

// Runs a use case once over all commands of a kind and deals the answers out to their callers.
template <class Item, class Answer, class UseCase>
void run_all(std::span<Pending<Item, Answer>> pendings, UseCase&& use_case) {
    if (pendings.empty()) return;
    const Gathered<Item, Answer> gathered(pendings);
    std::vector<Result<Answer>> answers = use_case(gathered.all());
    auto next = answers.begin();
    for (auto& pending : pendings) {
        const auto count = static_cast<std::ptrdiff_t>(pending.items.size());
        pending.answers.assign(std::move_iterator(next), std::move_iterator(next + count));
        next += count;
    }
}

// The same if the store's space allows commands of this kind; otherwise they are refused.
template <class Item, class Answer, class UseCase>
void run_kind(std::vector<Pending<Item, Answer>>& pendings, StoreSpace space, UseCase&& use_case) {
    if (may_run(burden_of<Item>, space)) {
        run_all(std::span(pendings), use_case);
    } else {
        refuse_all(std::span(pendings), store_full_error());
    }
}

// How many of these log lines are stored, given the bytes stored from the reserve before. All lines
// after the first refused one are refused as well, since lines come in order.
template <class Pendings>
std::size_t count_fitting(const Pendings& logs, StoreSpace space, std::size_t log_bytes) {
    std::size_t count = 0;
    for (const auto& pending : logs) {
        if (!may_run(Burden::logs, space, log_bytes)) break;
        for (const AppendLogs& lines : pending.items) log_bytes += bytes_of(lines);
        ++count;
    }
    return count;
}

}  // namespace sluice
