#include "interfaces/http/apps/entity_json.hpp"

#include <algorithm>

#include "application/json_values.hpp"

namespace sluice::http::apps {

void write_entity(JsonWriter& json, const Entity& entity) {
    json.begin_object();
    json.field("id", entity.key.id);
    if (!entity.parent.empty()) json.field("app_id", entity.parent);
    json.field("state", entity.state);
    json.field("created_at", entity.created_at);
    json.field("updated_at", entity.updated_at);
    json.field("revision", entity.revision);
    for (const auto& [name, value] : entity.attributes) json.raw_field(name, value);
    json.end_object();
}

void write_answer(JsonWriter& json, const EntityAnswer& answer) {
    Entity entity = answer.entity.value_or(Entity());
    std::vector<std::string> ids;
    for (const Job& job : answer.jobs) ids.push_back(to_text(job.spec.id));
    if (!ids.empty()) {
        const auto own = text_of(entity.attributes, "job_id");
        const bool is_new = own && std::find(ids.begin(), ids.end(), *own) != ids.end();
        if (!is_new) entity.attributes["job_id"] = json_string(ids.front());
        entity.attributes["job_ids"] = json_list(ids);
    }
    write_entity(json, entity);
}

}  // namespace sluice::http::apps
