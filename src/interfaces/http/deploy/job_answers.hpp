#pragma once

#include <functional>
#include <optional>
#include <string>

#include "interfaces/http/app.hpp"

// How questions about one job are asked, and answers about it given.
namespace sluice::http::deploy {

// A job of this contract and, when a runner was named, the lease it holds or held last.
struct FoundJob {
    Job job;
    std::optional<LeaseToken> lease{};
};

// Answers with the data that `question` gives as JSON.
void answer_with_text(const Call& call, std::function<Result<std::string>(JobReader&)> question);

// Reads the job that the path names and hands it to `then`; answers by itself when there is none.
// An empty runner is nobody.
void with_job(const Call& call, const std::string& runner_id, std::function<void(FoundJob)> then);

// Answers with the job as it is now.
void answer_with_stored(const Call& call, JobId id);

// Answers with this job and where its app is.
void answer_with(const Call& call, Job job);

// The same for what a command gave.
void answer_with_outcome(const Call& call, const Result<Job>& job);

}  // namespace sluice::http::deploy
