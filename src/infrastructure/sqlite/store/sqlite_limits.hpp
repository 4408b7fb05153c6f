#pragma once

#include "infrastructure/sqlite/reading/job_queries.hpp"
#include "infrastructure/sqlite/reading/limit_board.hpp"
#include "infrastructure/sqlite/store/queue_index.hpp"

namespace sluice::sqlite {

// Reads the rules and meters that the index of the queue goes by, in the writing session.
class IndexLimits final : public LimitReader {
  public:
    explicit IndexLimits(QueueIndex& index) : index_(index) {}

    std::shared_ptr<const LimitRules> limit_rules() override {
        return index_.ready().permits().rules();
    }
    std::vector<MeterState> meters(std::span<const MeterId> ids) override {
        return index_.ready().permits().meters_of(ids);
    }

  private:
    QueueIndex& index_;
};

// Rules and meters of the writing session. They are in the index of the queue; tables have the
// rules, as entities, and the buckets.
class SqliteLimits final : public LimitStore {
  public:
    SqliteLimits(sqlite3* connection, EntityReader& entities, QueueIndex& index);

    std::shared_ptr<const LimitRules> limit_rules() override { return reader_.limit_rules(); }
    std::vector<MeterState> meters(std::span<const MeterId> ids) override {
        return reader_.meters(ids);
    }
    void rules_written(Timestamp now) override;
    std::vector<LaneNow> lanes(std::int64_t ready_max) override;
    std::vector<MeterDifference> check_meters(bool repair) override;
    void count_sources(std::span<const SourceCount> counts, Timestamp now) override;
    std::vector<SourceCount> sources(const std::string& tenant, Timestamp now) override;
    bool knows_source(const std::string& tenant, const std::string& source) override;
    std::int64_t count_of_sources(const std::string& tenant) override;
    int forget_sources(Timestamp now, int limit) override;

    // The rules and buckets as the tables have them, for the index.
    std::shared_ptr<const LimitRules> stored_rules();

    // Writes the buckets that the session has changed.
    void write();
    // Shows readers what was committed.
    void committed();
    // Shows readers all of it, after the index was loaded.
    void loaded();

    const std::shared_ptr<LimitBoard>& board() const { return board_; }

  private:
    sqlite3* connection_;
    EntityReader& entities_;
    QueueIndex& index_;
    IndexLimits reader_{index_};
    std::shared_ptr<LimitBoard> board_ = std::make_shared<LimitBoard>();
    bool are_rules_new_ = false;
    std::vector<MeterId> forgotten_{};  // meters, by this session
    Statement put_meter_;
    Statement delete_meter_;
    Statement put_source_;
    Statement add_to_source_hour_;
    Statement forget_source_hours_;
    Statement list_silent_sources_;
    Statement forget_source_;
    Statement find_source_;
    Statement count_sources_;
    Statement sum_up_sources_;
};

}  // namespace sluice::sqlite
