#include "interfaces/worker/leash/live_group.hpp"

#include <cctype>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <sstream>
#include <string>

namespace sluice::worker {
namespace {

bool is_number(const std::string& text) {
    for (const char c : text) {
        if (std::isdigit(static_cast<unsigned char>(c)) == 0) return false;
    }
    return !text.empty();
}

bool is_live_member(const std::filesystem::path& process, pid_t group) {
    std::ifstream file(process / "stat");
    const std::string text{std::istreambuf_iterator<char>(file), {}};
    const std::size_t name_end = text.rfind(')');
    if (name_end == std::string::npos) return false;
    std::istringstream fields(text.substr(name_end + 1));
    char state = 0;
    pid_t parent = 0;
    pid_t its_group = 0;
    fields >> state >> parent >> its_group;
    return its_group == group && state != 'Z' && state != 'X';
}

}  // namespace

bool has_live_process(pid_t group) {
    std::error_code ignored;
    for (const auto& entry : std::filesystem::directory_iterator("/proc", ignored)) {
        if (!is_number(entry.path().filename().string())) continue;
        if (is_live_member(entry.path(), group)) return true;
    }
    return false;
}

}  // namespace sluice::worker
