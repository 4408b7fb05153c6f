#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "client/link/engine_link.hpp"

// A job's stream of updates, and the calls that are built on it. See Client for the promises.
namespace sluice::client {

// The path of a call about one job, with the tenant that the options name. Throws Error (usage)
// when the id is empty.
std::string job_path(const Options& options, const std::string& id, std::string_view verb);

bool follow_job(EngineLink& link, const std::string& id, std::int64_t position,
                const std::function<bool(const Update&)>& on_update,
                const std::function<bool()>& keep_on);

std::optional<Job> wait_for_end(EngineLink& link, const std::string& id,
                                std::optional<Millis> limit);

}  // namespace sluice::client
