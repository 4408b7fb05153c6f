#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "domain/jobs/history.hpp"
#include "interfaces/http/toolkit/app.hpp"

namespace sluice::http {

// The form in which a contract streams a job: each function makes the data of one event, a JSON
// value. It may hold line breaks between its tokens.
struct JobStreamFormat {
    std::string (*log)(const LogLine& line);

    // Asked for each change of state, with the job as it is now. Nothing: this change is not sent.
    // The final one must be.
    std::optional<std::string> (*status)(const Event& event, const Job& job);
};

struct JobStreamStart {
    JobId job{};
    std::string tenant{};    // empty: any
    std::int64_t after = 0;  // the id of the last event that the client has
};

// Answers with Server-Sent Events about one job: `log` for each of its lines, `status` for changes
// of its state, in order, from `start` on, until the final status has been sent. When that lies at
// or before `start`, answers 204, which tells an EventSource not to come back.
void stream_job(Call call, JobStreamStart start, const JobStreamFormat& format);

}  // namespace sluice::http
