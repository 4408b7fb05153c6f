#pragma once

#include <map>

#include "infrastructure/postgres/statements/transaction_reader.hpp"
#include "infrastructure/postgres/store/postgres_archive.hpp"
#include "infrastructure/postgres/store/postgres_entities.hpp"
#include "infrastructure/postgres/store/postgres_jobs.hpp"
#include "infrastructure/postgres/store/postgres_leases.hpp"
#include "infrastructure/postgres/store/postgres_limits.hpp"
#include "infrastructure/postgres/store/writer.hpp"

namespace sluice::postgres {

class PostgresHistory : public HistoryStore {
  public:
    explicit PostgresHistory(Work& work) : work_(work) {}
    void append(std::span<const Event> events) override;
    void append(std::span<const LogLine> lines) override;

  private:
    Work& work_;
};

class PostgresIdempotency : public IdempotencyStore {
  public:
    explicit PostgresIdempotency(Work& work) : work_(work) {}

    // Reads and locks the requests with these keys.
    void reserve(std::vector<IdempotencyKey> keys);

    std::optional<IdempotentRequest> find(const std::string& tenant,
                                          const std::string& key) override;
    void put(const IdempotentRequest& request) override;
    int forget_before(Timestamp time, int limit) override;

  private:
    Work& work_;
    std::map<IdempotencyKey, std::optional<IdempotentRequest>> known_;
    std::map<IdempotencyKey, bool> pending_;  // written, and not sent yet
};

class PostgresSession : public Session {
  public:
    PostgresSession(Writer& writer, Cluster& cluster);
    ~PostgresSession() override;

    void reserve(const Subjects& subjects) override;
    JobReader& reader() override { return reader_; }
    JobStore& jobs() override { return jobs_; }
    LeaseStore& leases() override { return leases_; }
    HistoryStore& history() override { return history_; }
    IdempotencyStore& idempotency() override { return idempotency_; }
    EntityStore& entities() override { return entities_; }
    ArchiveStore& archive() override { return archive_; }
    LimitStore& limits() override { return limits_; }
    void commit() override;
    std::vector<Readied> reopened() override { return std::move(reopened_); }

  private:
    void send_signature();
    void commit_signed();

    Writer& writer_;
    Work work_;
    TransactionReader reader_;
    PostgresEntities entities_;
    PostgresJobs jobs_;
    PostgresLeases leases_;
    PostgresHistory history_;
    PostgresIdempotency idempotency_;
    PostgresArchive archive_;
    PostgresLimits limits_;
    std::vector<Readied> reopened_;
    bool is_over_ = false;
};

}  // namespace sluice::postgres
