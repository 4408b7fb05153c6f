#pragma once

#include "infrastructure/postgres/store/work.hpp"

namespace sluice::postgres {

// Removes ended jobs one by one, in past windows that the housekeeper could not drop as a whole;
// see Cluster::thinned_below.
class PostgresArchive : public ArchiveStore {
  public:
    explicit PostgresArchive(Work& work) : work_(work) {}

    std::vector<EndedJob> ended(JobId after, JobId before, int limit) override;
    std::vector<JobId> unneeded(std::span<const JobId> ids) override;
    void remove(std::span<const JobId> ids) override;
    bool remove_part(JobId id) override;

  private:
    Work& work_;
};

}  // namespace sluice::postgres
