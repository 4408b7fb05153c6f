#pragma once

#include <span>
#include <string>

#include "application/secret_marks.hpp"
#include "interfaces/http/jobs/attempts.hpp"
#include "json/json_writer.hpp"

// How this contract shows jobs: one resource for both of its vocabularies.
namespace sluice::http::jobs {

// What is secret in the payload is not shown.
void write_job(JsonWriter& json, const Job& job, const SecretMarks& secrets);
std::string job_text(const Job& job, const SecretMarks& secrets);

// With its attempts, its leases and how long it took.
std::string job_detail_text(const Job& job, std::span<const Attempt> attempts,
                            const SecretMarks& secrets);

// What the stream says at the end: the state, what came of it, and why.
std::string ending_text(const Job& job);

}  // namespace sluice::http::jobs
