#pragma once

#include <memory>
#include <mutex>

#include "application/ports/store.hpp"
#include "infrastructure/memory/memory_records.hpp"

namespace sluice {

// A full store in RAM, for trying things out and for tests: it keeps every promise but durability.
// A session holds the store alone until it is committed or gone, so readers on other threads wait
// for it; on the session's own thread a reader must not be asked in between.
class MemoryStore : public Store {
  public:
    // `is_shared`: several engines use it by turns, as the simulation has them.
    explicit MemoryStore(bool is_shared = false) { records_.is_shared = is_shared; }

    std::unique_ptr<Session> begin() override;
    std::unique_ptr<JobReader> reader() override;
    std::int64_t last_id() override;

  private:
    std::mutex mutex_;
    MemoryRecords records_;
};

}  // namespace sluice
