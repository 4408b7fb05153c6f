#include "application/limits/stored_rules.hpp"
#include "infrastructure/memory/memory_session.hpp"

// The part of a MemoryStore's session that deals with rules about what may run.
namespace sluice {

std::vector<MeterState> MemoryLimits::meters(std::span<const MeterId> ids) {
    return work_.records.queue.permits().meters_of(ids);
}

void MemoryLimits::rules_written(Timestamp now) {
    MemoryRecords& records = work_.records;
    work_.can_undo([&records, before = records.rules] { records.rules = before; });
    MemoryEntityReader entities(nullptr, records.entities);
    records.rules = load_rules(entities, records.rules);
    records.queue.set_rules(records.rules, now);
}

std::vector<LaneNow> MemoryLimits::lanes(std::int64_t ready_max) {
    return work_.records.queue.lanes(ready_max);
}

std::vector<MeterDifference> MemoryLimits::check_meters(bool repair) {
    work_.asked_queue = true;
    return work_.records.queue.check_meters(work_.records.leases(), repair);
}

void MemoryLimits::count_sources(std::span<const SourceCount> counts, Timestamp now) {
    auto& rows = work_.records.sources.rows;
    for (const SourceCount& count : counts) {
        const SourceRecords::Key key(count.tenant, count.source);
        const auto [row, added] = rows.try_emplace(key);
        if (added) {
            work_.can_undo([&rows, key] { rows.erase(key); });
        } else {
            work_.can_undo([&rows, key, before = row->second] { rows[key] = before; });
        }
        SourceRecords::add(row->second, count, now);
    }
}

std::vector<SourceCount> MemoryLimits::sources(const std::string& tenant, Timestamp now) {
    return work_.records.sources.list(tenant, now);
}

bool MemoryLimits::knows_source(const std::string& tenant, const std::string& source) {
    return work_.records.sources.rows.contains({tenant, source});
}

std::int64_t MemoryLimits::count_of_sources(const std::string& tenant) {
    return work_.records.sources.count(tenant);
}

int MemoryLimits::forget_sources(Timestamp now, int limit) {
    MemoryRecords& records = work_.records;
    auto& rows = records.sources.rows;
    const auto in_use = records.queue.sources();
    int forgotten = 0;
    for (auto row = rows.begin(); row != rows.end() && forgotten < limit;) {
        const auto& [tenant, source] = row->first;
        if (SourceRecords::is_active(row->second, now) || in_use.contains(row->first) ||
            records.rules->names_source(tenant, source)) {
            ++row;
            continue;
        }
        work_.can_undo([&rows, before = *row] { rows.insert(before); });
        row = rows.erase(row);
        ++forgotten;
    }
    return forgotten;
}

}  // namespace sluice
