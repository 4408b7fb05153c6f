#pragma once

#include <functional>
#include <optional>
#include <string>

#include "interfaces/http/deploy/job_json.hpp"
#include "interfaces/http/toolkit/app.hpp"

// Questions about one job, and the answers about it.
namespace sluice::http::deploy {

CancelJob cancel_of(JobId id, std::string reason, const Caller& caller);

// The form in which this caller is shown jobs and nodes now.
Showing showing_to(const Call& call);

// Answers with the data that `question` gives as JSON.
Response refusal_of(const Error& error, std::string_view request_id);
void answer_with_text(const Call& call, std::function<Result<std::string>(JobReader&)> question);

// Shows `visit` the newest `most` jobs that the filter accepts; few at a time when they are large.
void each_job(JobReader& reader, const JobFilter& filter, int most,
              const std::function<void(const Job&)>& visit);

// Answers with the job that the path names. Looking at a job that has not ended puts its app on a
// node, if there is one now and was none before.
void answer_with_looked_at(const Call& call);

// Answers with this job and where its app is.
void answer_with(const Call& call, Job job);

// The same for the outcome of a command.
void answer_with_outcome(const Call& call, const Result<Job>& job);

// Answers code 409 with the job in the data.
void refuse_with(const Call& call, Job job, std::string message);

// Has a reader write the job with the node of its app, and hands the text to `then`.
using NodeOfApp = std::optional<RuntimeNode>;
void with_text(const Call& call, Job job, Showing showing,
               std::function<void(const Result<std::string>&)> then);

}  // namespace sluice::http::deploy
