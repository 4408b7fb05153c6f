#pragma once

#include "application/ports/limit_store.hpp"
#include "infrastructure/postgres/cluster/cluster.hpp"
#include "infrastructure/postgres/connection/reading_connection.hpp"
#include "infrastructure/postgres/statements/entity_queries.hpp"

namespace sluice::postgres {

std::vector<MeterState> read_meters(Connection& connection, std::span<const MeterId> ids);

// Reads limits inside of an open transaction.
class LimitQueries final : public LimitReader {
  public:
    LimitQueries(Connection& connection, EntityReader& entities)
        : connection_(connection), entities_(entities) {}

    std::shared_ptr<const LimitRules> limit_rules() override;
    std::vector<MeterState> meters(std::span<const MeterId> ids) override;

  private:
    Connection& connection_;
    EntityReader& entities_;
};

// The same on a reader's connection. The rules are those that the node knows.
class PostgresLimitReader final : public LimitReader {
  public:
    PostgresLimitReader(ReadingConnection& connection, EntityReader& entities,
                        std::shared_ptr<Cluster> cluster)
        : connection_(connection), entities_(entities), cluster_(std::move(cluster)) {}

    std::shared_ptr<const LimitRules> limit_rules() override;
    std::vector<MeterState> meters(std::span<const MeterId> ids) override;

  private:
    ReadingConnection& connection_;
    EntityReader& entities_;
    std::shared_ptr<Cluster> cluster_;  // none: the rules are read each time
};

}  // namespace sluice::postgres
