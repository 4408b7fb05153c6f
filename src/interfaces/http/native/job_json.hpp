#pragma once

#include "application/ports/commands.hpp"
#include "application/secrets/secret_marks.hpp"
#include "json/json_writer.hpp"

// The form in which the native API shows jobs.
namespace sluice::http::native {

// Secrets in the payload are not shown.
void write_job(JsonWriter& json, const Job& job, const SecretMarks& secrets);
std::string job_text(const Job& job, const SecretMarks& secrets);

void write_event(JsonWriter& json, const Event& event);
std::string explanation_text(const Explanation& explanation);

}  // namespace sluice::http::native
