#pragma once

#include <filesystem>
#include <optional>
#include <string>

namespace sluice::worker {

// The file that a command's first argument names: a path, or a name that is looked up in PATH.
// Nothing when no such file may be executed.
std::optional<std::filesystem::path> find_program(const std::string& name);

}  // namespace sluice::worker
