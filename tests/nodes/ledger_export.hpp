#pragma once

#include <filesystem>
#include <string>

namespace sluice::nodes {

// Adds the rows of the store's events to the history, with all fields that their hashes cover: the
// API shows less of them. No process may use the store meanwhile.
void export_ledger(const std::string& store, const std::filesystem::path& history);

}  // namespace sluice::nodes
