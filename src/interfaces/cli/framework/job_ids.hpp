#pragma once

#include <string>
#include <vector>

#include "interfaces/cli/framework/session.hpp"

namespace sluice::cli {

// The id that a word stands for: a whole id, the beginning of exactly one, or @last. May ask the
// engine. Throws when there is no such job (not found) or more than one (usage).
std::string find_job_id(Session& session, const std::string& word);
std::vector<std::string> find_job_ids(Session& session, const std::vector<std::string>& words);

// Makes this job @last, for this user and this engine. When that cannot be kept, nothing happens.
void remember_last_job(const client::Options& options, const std::string& id);

// The number of digits by which all of these ids can be told apart: as few as possible, and at
// least twelve, which hold the time to the millisecond.
std::size_t short_id_length(const std::vector<std::string>& ids);

}  // namespace sluice::cli
