#pragma once

#include <map>
#include <set>

#include "application/ports/limit_store.hpp"
#include "infrastructure/postgres/statements/transaction_reader.hpp"
#include "infrastructure/postgres/store/work.hpp"

namespace sluice::postgres {

// The rules and meters of the writing session.
//
// A change of the rules locks the meters that it counts anew, and then all seats: each other
// session either has committed by then and is counted, or finds at its commit that its seat must
// know a later version. Meters come before seats, as in every session.
class PostgresLimits final : public LimitStore {
  public:
    PostgresLimits(Work& work, TransactionReader& reader, int seat)
        : work_(work), reader_(reader), seat_(seat) {}

    std::shared_ptr<const LimitRules> limit_rules() override { return work_.permits.rules(); }
    std::vector<MeterState> meters(std::span<const MeterId> ids) override;
    void rules_written(Timestamp now) override;
    std::vector<LaneNow> lanes(std::int64_t ready_max) override;
    std::vector<MeterDifference> check_meters(bool repair) override;
    void count_sources(std::span<const SourceCount> counts, Timestamp now) override;
    std::vector<SourceCount> sources(const std::string& tenant, Timestamp now) override;
    bool knows_source(const std::string& tenant, const std::string& source) override;
    std::int64_t count_of_sources(const std::string& tenant) override;
    int forget_sources(Timestamp now, int limit) override;

    // The node knows what this session has written.
    void committed();

  private:
    void count_anew(const LimitRules& before, const LimitRules& rules,
                    const std::set<std::string>& wanted, Timestamp now);
    void refuse_older_rules();
    void shut_out_older_rules(std::int64_t version);

    Work& work_;
    TransactionReader& reader_;
    int seat_;
    std::shared_ptr<const LimitRules> changed_;                               // by this session
    std::map<KnownSources::Name, std::optional<Timestamp>> written_sources_;  // and the last job
    std::set<KnownSources::Name> new_sources_;  // as far as this node knew
    std::vector<KnownSources::Name> forgotten_;
};

}  // namespace sluice::postgres
