#pragma once

#include <memory>

#include "infrastructure/postgres/cluster/cluster.hpp"
#include "infrastructure/postgres/store/postgres_session.hpp"

namespace sluice {

// Jobs in PostgreSQL, for one committer, which has a connection and a seat of its own. Several
// stores, in one process or many, share the database.
class PostgresStore : public Store {
  public:
    // Connects, applies missing migrations, takes a seat. Throws std::runtime_error when the server
    // cannot be used, with what to do about it, and StoreUnavailable when it does not answer.
    explicit PostgresStore(std::shared_ptr<postgres::Cluster> cluster);
    ~PostgresStore() override;

    std::unique_ptr<Session> begin() override;
    std::unique_ptr<JobReader> reader() override;
    std::int64_t last_id() override { return writer_.seat.last_id; }
    std::optional<int> seat() const override { return writer_.seat.number; }

  private:
    std::shared_ptr<postgres::Cluster> cluster_;
    postgres::Writer writer_;
};

}  // namespace sluice
