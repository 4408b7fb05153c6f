#include "simulation/entity_chains.hpp"

#include "domain/entities/entity_history.hpp"
#include "simulation/checker.hpp"

namespace sluice::simulation {
namespace {

constexpr int all_of_them = 10'000;

}  // namespace

void EntityChains::look_at(EntityReader& reader) {
    for (const Entity& entity :
         reader.list(EntityFilter{.tenant = ""}, newest_entity, 0, all_of_them)) {
        const auto [place, is_new] = ends_.try_emplace(entity.key);
        End& end = place->second;
        if (is_new) end.hash = genesis(entity);
        if (entity == end.seen) continue;
        read_events(reader, entity, end);
        demand(entity.head == end.hash, to_text(entity.key), ": its head is not its last event");
        demand(entity.seal == seal_of(entity), to_text(entity.key), ": its seal is another's");
        end.seen = entity;
    }
}

void EntityChains::read_events(EntityReader& reader, const Entity& entity, End& end) {
    const std::string name = to_text(entity.key);
    if (entity.revision > end.seq) {
        for (const EntityEvent& event : reader.events(entity.key, end.seq, all_of_them)) {
            demand(event.seq == end.seq + 1, name, ": a gap in its events");
            demand(event.from == end.state, name, ": a step from another state");
            demand(event.hash == chain_hash(end.hash, event), name, ": a broken chain");
            end = {event.seq, *event.hash, event.to};
            coverage_.chain("an entity's event");
        }
    }
    demand(end.seq == entity.revision, name, ": its history has another length");
    demand(end.state == entity.state, name, ": its history says another state");
}

}  // namespace sluice::simulation
