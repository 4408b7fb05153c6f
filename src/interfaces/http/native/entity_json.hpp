#pragma once

#include <string>

#include "application/commands.hpp"
#include "application/gates.hpp"
#include "json/json_writer.hpp"

namespace sluice::http::native {

void write_entity(JsonWriter& json, const Entity& entity);
std::string entity_text(const Entity& entity);

// The entity after a change, with the jobs that were enqueued by it as its member "jobs".
std::string changed_entity_text(const EntityAnswer& answer);

void write_entity_event(JsonWriter& json, const EntityEvent& event);

void write_gate(JsonWriter& json, const GateVerdict& verdict);

}  // namespace sluice::http::native
