#pragma once

#include <filesystem>
#include <optional>
#include <string>

namespace sluice::worker {

// The file that a command's first word stands for: a path, or a name that is looked up in PATH.
// Nothing when there is none that may be executed.
std::optional<std::filesystem::path> find_program(const std::string& name);

}  // namespace sluice::worker
