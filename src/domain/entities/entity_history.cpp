#include "domain/entities/entity_history.hpp"

#include "domain/values/canonical.hpp"

namespace sluice {

Digest genesis(const Entity& entity) {
    Canonical form("sluice entity 1");
    for (const std::string* field : {&entity.key.tenant, &entity.key.kind, &entity.key.id}) {
        form.add(std::string_view(*field));
    }
    form.add(entity.number);
    form.add(to_micros(entity.created_at));
    return sha256(form.text());
}

Digest chain_hash(const Digest& previous, const EntityEvent& event) {
    Canonical form("sluice entity event 1");
    for (const std::string* field :
         {&event.key.tenant, &event.key.kind, &event.key.id, &event.action, &event.from, &event.to,
          &event.actor, &event.detail}) {
        form.add(std::string_view(*field));
    }
    form.add(event.seq);
    form.add(to_micros(event.at));
    form.add(event.job ? event.job->value : 0);
    return sha256(previous, form.text());
}

Digest seal_of(const Entity& entity) {
    Canonical form("sluice entity state 1");
    form.add(std::string_view(entity.parent));
    form.add(std::string_view(entity.state));
    form.add(entity.revision);
    form.add(to_micros(entity.updated_at));
    for (const auto& [name, value] : entity.attributes) {
        form.add(std::string_view(name));
        form.add(std::string_view(value));
    }
    return sha256(entity.head.value_or(Digest{}), form.text());
}

}  // namespace sluice
