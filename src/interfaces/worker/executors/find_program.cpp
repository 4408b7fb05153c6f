#include "interfaces/worker/executors/find_program.hpp"

#include <unistd.h>

#include <cstdlib>
#include <string_view>

namespace sluice::worker {
namespace {

namespace fs = std::filesystem;

bool is_program(const fs::path& path) {
    std::error_code ignored;
    return fs::is_regular_file(path, ignored) && access(path.c_str(), X_OK) == 0;
}

}  // namespace

std::optional<fs::path> find_program(const std::string& name) {
    if (name.empty()) return std::nullopt;
    if (name.find('/') != std::string::npos) {
        return is_program(name) ? std::optional<fs::path>(name) : std::nullopt;
    }
    const char* variable = std::getenv("PATH");
    std::string_view folders = variable ? variable : "/usr/bin:/bin";
    while (!folders.empty()) {
        const std::size_t colon = folders.find(':');
        const std::string_view folder = folders.substr(0, colon);
        const fs::path path = fs::path(folder.empty() ? "." : folder) / name;
        if (is_program(path)) return path;
        folders = colon == std::string_view::npos ? "" : folders.substr(colon + 1);
    }
    return std::nullopt;
}

}  // namespace sluice::worker
