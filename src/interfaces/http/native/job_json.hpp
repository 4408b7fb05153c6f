#pragma once

#include "application/ports/commands.hpp"
#include "application/secrets/secret_marks.hpp"
#include "json/json_writer.hpp"

// The form in which the native API shows jobs.
namespace sluice::http::native {

// Secrets in the payload are not shown. `next_eligible_at`: before that a queued job cannot start.
void write_job(JsonWriter& json, const Job& job, const SecretMarks& secrets,
               std::optional<Timestamp> next_eligible_at = {});
std::string job_text(const Job& job, const SecretMarks& secrets,
                     std::optional<Timestamp> next_eligible_at = {});

// What answers to writes say: the time for which a queued job waits; nothing if it never had to
// wait for one, or is not queued. It must not depend on the present time, since a repeated write is
// answered like the first.
std::optional<Timestamp> planned_start(const Job& job);

void write_event(JsonWriter& json, const Event& event);
std::string explanation_text(const Explanation& explanation);

}  // namespace sluice::http::native
