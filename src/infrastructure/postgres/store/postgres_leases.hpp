#pragma once

#include "infrastructure/postgres/store/claims.hpp"
#include "infrastructure/postgres/store/work.hpp"

namespace sluice::postgres {

class PostgresLeases : public LeaseStore {
  public:
    explicit PostgresLeases(Work& work) : work_(work), claims_(work) {}
    ~PostgresLeases() override;

    std::vector<std::vector<Job>> take(std::span<const Wanted> wanted, Timestamp now) override;
    void open(std::span<const Job> jobs) override;
    void save(std::span<const Job> jobs) override;
    void close(std::span<const Job> jobs) override;
    void give_back(Duration lost, Timestamp now) override;
    LeaseToken newest_token() override { return claims_.newest_token(); }
    std::vector<JobId> expired(Timestamp now, int limit) override;
    std::vector<JobId> overdue(Timestamp now, int limit) override;
    Timestamp next_due() override;
    std::vector<Readied> newly_ready(Timestamp now) override;
    std::vector<std::optional<JobId>> holders(const std::string& tenant,
                                              std::span<const std::string> keys) override;
    Depths depths() override;

    // The session was committed: the marks that all sessions share are updated.
    void committed();

  private:
    void see(Timestamp now) { work_.seen = std::max(work_.seen, now); }
    void promote_due(Timestamp now);
    std::vector<JobId> look(const Query& query, Timestamp now, int limit);
    void watch(const Job& job);

    Work& work_;
    Claims claims_;
    // The marks that this session took to look for due work; put back if it fails.
    Timestamp lease_mark_ = never;
    Timestamp timed_mark_ = never;
    bool has_looked_ = false;
    bool has_found_ = false;
    bool knows_next_lease_ = false;
};

}  // namespace sluice::postgres
