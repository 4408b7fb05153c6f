#include "infrastructure/memory/memory_store.hpp"

#include "infrastructure/memory/memory_reader.hpp"
#include "infrastructure/memory/memory_session.hpp"

namespace sluice {
std::unique_ptr<Session> MemoryStore::begin() {
    return std::make_unique<MemorySession>(std::unique_lock(mutex_), records_);
}

std::unique_ptr<JobReader> MemoryStore::reader() {
    return std::make_unique<MemoryReader>(&mutex_, records_);
}

std::int64_t MemoryStore::last_id() {
    const std::lock_guard lock(mutex_);
    return records_.last_id;
}

}  // namespace sluice
