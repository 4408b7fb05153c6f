#include "interfaces/http/apps/entity_json.hpp"

#include <algorithm>

#include "json/json_values.hpp"

namespace sluice::http::apps {

void write_entity(JsonWriter& json, const Entity& entity, const SecretMarks& secrets) {
    json.begin_object();
    json.field("id", entity.key.id);
    if (!entity.parent.empty()) json.field("app_id", entity.parent);
    json.field("state", entity.state);
    json.field("created_at", entity.created_at);
    json.field("updated_at", entity.updated_at);
    json.field("revision", entity.revision);
    const Attributes shown = json_members(secrets.shown(to_json(entity.attributes)));
    for (const auto& [name, value] : shown) json.raw_field(name, value);
    json.end_object();
}

void write_answer(JsonWriter& json, const EntityAnswer& answer, const SecretMarks& secrets) {
    Entity entity = answer.entity.value_or(Entity());
    std::vector<std::string> ids;
    for (const Job& job : answer.jobs) ids.push_back(to_text(job.spec->id));
    if (!ids.empty()) {
        const auto own = text_of(entity.attributes, "job_id");
        const bool is_new = own && std::find(ids.begin(), ids.end(), *own) != ids.end();
        if (!is_new) entity.attributes["job_id"] = json_string(ids.front());
        entity.attributes["job_ids"] = json_list(ids);
    }
    write_entity(json, entity, secrets);
}

}  // namespace sluice::http::apps
