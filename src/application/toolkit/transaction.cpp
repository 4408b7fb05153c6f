#include "application/toolkit/transaction.hpp"

#include "domain/entities/entity_history.hpp"

namespace sluice {

void Transaction::record(Job& job, Step step, std::optional<JobState> from, std::string actor,
                         std::string detail, Timestamp last) {
    EventParts parts{.step = step,
                     .from = from,
                     .lease = job.lease ? std::optional(job.lease->token) : std::nullopt,
                     .actor = std::move(actor),
                     .at = now_after(last),
                     .detail = std::move(detail)};
    events_.push_back(sluice::record(job, std::move(parts)));
    count(events_.back());
    if (!job.spec->source.empty()) count_source(job, events_.back());
    if (!job.spec->entity_id.empty()) {
        touched_.push_back(
            watch_id({job.spec->tenant, job.spec->entity_type, job.spec->entity_id}));
    }
}

void Transaction::count(const Event& event) {
    touched_.push_back(event.job);
    switch (event.step) {
        case Step::submitted: ++counts_.submitted; break;
        case Step::claimed: ++counts_.claimed; break;
        case Step::retried: ++counts_.retried; break;
        case Step::lease_expired: ++counts_.leases_expired; break;
        default: break;
    }
    if (event.to && is_final(*event.to)) ++counts_.ended[static_cast<std::size_t>(*event.to)];
}

void Transaction::count_source(const Job& job, const Event& event) {
    const bool is_new = event.step == Step::submitted;
    const bool has_ended = event.to && is_final(*event.to) && event.from && !is_final(*event.from);
    if (!is_new && !has_ended) return;
    SourceCount& count = sources_[{job.spec->tenant, job.spec->source}];
    count.tenant = job.spec->tenant;
    count.source = job.spec->source;
    if (is_new) {
        ++count.submitted;
        count.last_job_at = job.spec->created_at;
    } else if (*event.to == JobState::succeeded) {
        ++count.succeeded;
    } else if (*event.to != JobState::canceled) {
        ++count.failed;
    }
}

void Transaction::append(std::span<const LogLine> lines) {
    if (lines.empty()) return;
    session_.history().append(lines);
    written_ = true;
    counts_.log_lines += static_cast<std::int64_t>(lines.size());
    for (const LogLine& line : lines) {
        if (touched_.empty() || touched_.back() != line.job) touched_.push_back(line.job);
    }
}

// A caller may hold a copy of an entity from before this session's last write of it.
Digest Transaction::head_of(const Entity& entity) const {
    const auto written = entity_heads_.find(entity.key);
    if (written != entity_heads_.end()) return written->second;
    return entity.head ? *entity.head : genesis(entity);
}

void Transaction::write(std::vector<Entity> entities, std::vector<EntityEvent> events) {
    std::map<EntityKey, std::vector<EntityEvent*>> events_of;
    for (EntityEvent& event : events) events_of[event.key].push_back(&event);
    for (Entity& entity : entities) {
        Digest head = head_of(entity);
        if (const auto own = events_of.find(entity.key); own != events_of.end()) {
            for (EntityEvent* event : own->second) {
                head = chain_hash(head, *event);
                event->hash = head;
            }
            entity_heads_[entity.key] = head;
        }
        if (entity.head || entity_heads_.contains(entity.key)) entity.head = head;
        entity.seal = seal_of(entity);
        touched_.push_back(watch_id(entity.key));
    }
    if (!entities.empty()) session_.entities().put(entities);
    if (!events.empty()) session_.entities().append(events);
    written_ = written_ || !entities.empty() || !events.empty();
}

void Transaction::note_removed(std::span<const JobId> jobs) {
    written_ = true;
    touched_.insert(touched_.end(), jobs.begin(), jobs.end());
}

void Transaction::flush() {
    if (events_.empty()) return;
    session_.history().append(events_);
    written_ = true;
    events_.clear();
    if (sources_.empty()) return;
    std::vector<SourceCount> counts;
    for (auto& [name, source] : sources_) counts.push_back(std::move(source));
    sources_.clear();
    session_.limits().count_sources(counts, now_);
}

}  // namespace sluice
