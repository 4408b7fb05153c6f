#pragma once

#include <array>

#include "application/ports/store.hpp"
#include "infrastructure/sqlite/database/statement.hpp"

namespace sluice::sqlite {

// Removes ended jobs. The space that they leave free in the file is used again; the file does not
// shrink.
class SqliteArchive final : public ArchiveStore {
  public:
    explicit SqliteArchive(sqlite3* connection);

    std::vector<EndedJob> ended(JobId after, JobId before, int limit) override;
    std::vector<JobId> unneeded(std::span<const JobId> ids) override;
    void remove(std::span<const JobId> ids) override;
    bool remove_part(JobId id) override;

  private:
    static bool finds(Statement& statement, JobId id);

    Statement list_ended_;
    Statement has_open_dependent_;
    Statement has_key_;
    // In the order in which a job is removed: its lines, the rows by which readers find it, and its
    // end.
    Statement delete_lines_;
    Statement delete_some_lines_;
    std::array<Statement, 3> deletes_;
    Statement delete_done_;
    Statement has_line_;
};

}  // namespace sluice::sqlite
