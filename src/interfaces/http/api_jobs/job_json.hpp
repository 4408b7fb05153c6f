#pragma once

#include <span>
#include <string>

#include "application/secrets/secret_marks.hpp"
#include "interfaces/http/api_jobs/attempts.hpp"
#include "json/json_writer.hpp"

// The form in which this contract shows jobs: one resource for both of its vocabularies.
namespace sluice::http::api_jobs {

// Secrets in the payload are not shown.
void write_job(JsonWriter& json, const Job& job, const SecretMarks& secrets);
std::string job_text(const Job& job, const SecretMarks& secrets);

// With its attempts, its leases and how long it took.
std::string job_detail_text(const Job& job, std::span<const Attempt> attempts,
                            const SecretMarks& secrets);

// The last event of the stream: the state, the result, and the reason.
std::string ending_text(const Job& job);

}  // namespace sluice::http::api_jobs
