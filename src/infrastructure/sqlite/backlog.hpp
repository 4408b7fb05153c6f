#pragma once

#include <filesystem>

#include "infrastructure/duty_backlog.hpp"

namespace sluice::sqlite {

// Only reads, and may do so while an engine uses the file.
DutyBacklog look_at_backlog(const std::filesystem::path& path, const BacklogQuestion& question);

}  // namespace sluice::sqlite
