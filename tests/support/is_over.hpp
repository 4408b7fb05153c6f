#pragma once

#include <sys/types.h>

#include <fstream>
#include <string>

namespace sluice {

// Whether a process runs no more, though it may not be reaped yet. The file of a process that ends
// meanwhile cannot be read.
inline bool is_over(pid_t pid) {
    std::ifstream file("/proc/" + std::to_string(pid) + "/stat");
    std::string text;
    if (!std::getline(file, text)) return true;
    const std::size_t name_end = text.rfind(')');
    return name_end == std::string::npos || text.at(name_end + 2) == 'Z';
}

}  // namespace sluice
