#pragma once

#include <string>

#include "application/entities/gates.hpp"
#include "application/ports/commands.hpp"
#include "application/secrets/secret_marks.hpp"
#include "json/json_writer.hpp"

namespace sluice::http::native {

// Attributes with the names of secrets are not shown, nor are the secrets of jobs.
void write_entity(JsonWriter& json, const Entity& entity, const SecretMarks& secrets);
std::string entity_text(const Entity& entity, const SecretMarks& secrets);

// The entity after a change, with the jobs that were enqueued by it as its member "jobs".
std::string changed_entity_text(const EntityAnswer& answer, const SecretMarks& secrets);

void write_entity_event(JsonWriter& json, const EntityEvent& event, const SecretMarks& secrets);

void write_gate(JsonWriter& json, const GateVerdict& verdict);

}  // namespace sluice::http::native
