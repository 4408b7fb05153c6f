#pragma once

#include <filesystem>

#include "e2e/json.hpp"

namespace sluice::nodes {

// All jobs of the campaign's queue, as one node's API lists them.
e2e::List all_jobs(std::uint16_t port);

// Whether each of them has ended and its lease is closed.
bool all_ended(const e2e::List& jobs);

// Writes the API's data about these jobs: a line for each job, each of its events and each of its
// log lines; also each entity, each limit and each of its changes.
void export_history(std::uint16_t port, const e2e::List& jobs, const std::filesystem::path& path);

}  // namespace sluice::nodes
