#pragma once

#include <cstdint>

#include "domain/jobs/ids.hpp"
#include "infrastructure/sqlite/database/statement.hpp"

namespace sluice::sqlite {

// Two numbers about the whole store that would be slow to find out from the tables.
//
// low_water: every job with a smaller id has ended, so the scan at the start begins there. It may
// lag behind, which only makes that scan longer. It moves up by a short walk every few thousand
// finishes.
//
// last_id: no number above it was ever given to a job, a lease or an entity. Tokens vanish with
// their leases, so no table tells it. As sequences do, it is written ahead: by one second of ids,
// so that it costs one row a second at the most. After a crash new ids start up to a second ahead
// of the clock; a clean close writes the exact number.
class Marks {
  public:
    explicit Marks(sqlite3* connection);

    // To be called for each write of the open session.
    void job_put(JobId id);
    void number_given(std::int64_t number);
    void jobs_finished(std::size_t count) { finished_ += count; }

    // Writes the marks that the transaction that is about to be committed needs.
    void write();
    void committed() { last_id_ = given_; }

    // Writes both marks exactly; for a clean close.
    void write_exactly();

    // Forgets changes that were not committed.
    void reload();

    JobId low_water() const { return low_water_; }
    std::int64_t last_id() const { return last_id_; }

  private:
    void raise_low_water();
    std::int64_t read(std::string_view key);
    void write(std::string_view key, std::int64_t value);

    Statement read_;
    Statement write_;
    Statement walk_;
    JobId low_water_{};
    JobId written_low_water_{};
    std::int64_t last_id_ = 0;   // committed
    std::int64_t given_ = 0;     // by the open session, or before
    std::int64_t reserved_ = 0;  // as in the table
    std::size_t finished_ = 0;   // since low_water was raised
};

}  // namespace sluice::sqlite
