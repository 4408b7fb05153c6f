#pragma once

#include <memory>
#include <mutex>
#include <span>
#include <unordered_map>
#include <utility>
#include <vector>

#include "application/ports/limit_store.hpp"

namespace sluice::sqlite {

// The rules and meters as of the last commit, which the writing session tells to the readers on
// other threads. Thread-safe.
class LimitBoard {
  public:
    using Meters = std::vector<std::pair<MeterId, MeterState>>;

    // All of it anew.
    void show(std::shared_ptr<const LimitRules> rules, const Meters& meters);
    // These meters have changed.
    void update(const Meters& meters);
    // These are at rest, and not kept any more.
    void forget(std::span<const MeterId> meters);

    std::shared_ptr<const LimitRules> rules() const;
    std::vector<MeterState> meters(std::span<const MeterId> ids) const;

  private:
    void put(const Meters& meters);

    mutable std::mutex mutex_;
    std::shared_ptr<const LimitRules> rules_ = LimitRules::none();
    std::unordered_map<MeterId, MeterState> meters_;
};

class BoardReader final : public LimitReader {
  public:
    explicit BoardReader(std::shared_ptr<const LimitBoard> board) : board_(std::move(board)) {}

    std::shared_ptr<const LimitRules> limit_rules() override { return board_->rules(); }
    std::vector<MeterState> meters(std::span<const MeterId> ids) override {
        return board_->meters(ids);
    }

  private:
    std::shared_ptr<const LimitBoard> board_;  // readers may live longer than their store
};

}  // namespace sluice::sqlite
