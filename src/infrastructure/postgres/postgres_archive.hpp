#pragma once

#include "infrastructure/postgres/work.hpp"

namespace sluice::postgres {

// Removes ended jobs one by one, in the windows that the housekeeper has found to be past but not
// to be dropped whole; see Cluster::thinned_below.
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
