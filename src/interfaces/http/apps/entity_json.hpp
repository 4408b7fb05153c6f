#pragma once

#include "application/ports/commands.hpp"
#include "application/secrets/secret_marks.hpp"
#include "json/json_writer.hpp"

// The form in which this contract shows the entities of an app.
namespace sluice::http::apps {

// Attributes with the names of secrets are not shown.
void write_entity(JsonWriter& json, const Entity& entity, const SecretMarks& secrets);

// The changed entity. When the change has enqueued jobs, job_ids has them all, and job_id the one
// that the entity moves with, or else the first.
void write_answer(JsonWriter& json, const EntityAnswer& answer, const SecretMarks& secrets);

}  // namespace sluice::http::apps
