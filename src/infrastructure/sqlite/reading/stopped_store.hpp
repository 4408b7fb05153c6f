#pragma once

#include <filesystem>

#include "infrastructure/sql/whole_store.hpp"
#include "infrastructure/sqlite/reading/sqlite_reader.hpp"

namespace sluice::sqlite {

// A store whose engine does not run, and cannot start while this lives. Only reads, and leaves the
// file as it is.
class StoppedStore final : public WholeStore {
  public:
    // Throws std::runtime_error when an engine runs, or when the file is of another version.
    explicit StoppedStore(const std::filesystem::path& path);

    JobReader& jobs() override { return reader_; }
    std::vector<IdempotentRequest> requests_after(const IdempotencyKey& last, int limit) override;
    std::vector<StoredMeter> meters() override;
    std::vector<StoredSource> sources() override;
    std::vector<StoredSourceHour> source_hours() override;
    std::int64_t last_id() override;

  private:
    OwnerLock lock_;
    Connection connection_;
    SqliteReader reader_;
    Statement list_requests_;
};

}  // namespace sluice::sqlite
