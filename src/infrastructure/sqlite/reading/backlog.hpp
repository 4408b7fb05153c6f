#pragma once

#include <filesystem>

#include "infrastructure/sql/duty_backlog.hpp"

namespace sluice::sqlite {

// Only reads, also while an engine uses the file.
DutyBacklog look_at_backlog(const std::filesystem::path& path, const BacklogQuestion& question);

}  // namespace sluice::sqlite
