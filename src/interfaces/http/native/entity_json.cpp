#include "interfaces/http/native/entity_json.hpp"

#include "interfaces/http/native/job_json.hpp"
#include "json/json_values.hpp"

namespace sluice::http::native {
namespace {

void write_members(JsonWriter& json, const Entity& entity, const SecretMarks& secrets) {
    json.field("kind", entity.key.kind);
    json.field("id", entity.key.id);
    json.field("tenant", entity.key.tenant);
    json.text_or_null("parent", entity.parent);
    json.field("state", entity.state);
    json.raw_field("attributes", secrets.shown(to_json(entity.attributes)));
    json.field("revision", entity.revision);
    json.field("created_at", entity.created_at);
    json.field("updated_at", entity.updated_at);
    if (entity.damaged) json.field("damaged", true);
}

}  // namespace

void write_entity(JsonWriter& json, const Entity& entity, const SecretMarks& secrets) {
    json.begin_object();
    write_members(json, entity, secrets);
    json.end_object();
}

std::string entity_text(const Entity& entity, const SecretMarks& secrets) {
    return json_text([&](JsonWriter& json) { write_entity(json, entity, secrets); });
}

std::string changed_entity_text(const EntityAnswer& answer, const SecretMarks& secrets) {
    return json_object_text([&](JsonWriter& json) {
        write_members(json, *answer.entity, secrets);
        json.array("jobs", answer.jobs, [&](const Job& job) { write_job(json, job, secrets); });
    });
}

void write_entity_event(JsonWriter& json, const EntityEvent& event, const SecretMarks& secrets) {
    json.begin_object();
    json.field("seq", event.seq);
    json.field("action", event.action);
    json.text_or_null("from", event.from);
    json.field("to", event.to);
    json.field("actor", event.actor);
    json.field("job_id", event.job);
    json.field("at", event.at);
    json.raw_field("detail", event.detail.empty() ? "null" : secrets.shown(event.detail));
    if (event.damaged) json.field("damaged", true);
    json.end_object();
}

void write_gate(JsonWriter& json, const GateVerdict& verdict) {
    json.begin_object();
    json.text_or_null("action", verdict.gate.action);
    json.field("job_type", verdict.gate.job_type);
    json.field("open", verdict.open);
    json.field("message", verdict.message);
    json.field("latest_job",
               verdict.latest ? std::optional(verdict.latest->spec->id) : std::nullopt);
    json.field("latest_state",
               verdict.latest ? std::optional(to_text(verdict.latest->now.state)) : std::nullopt);
    json.end_object();
}

}  // namespace sluice::http::native
