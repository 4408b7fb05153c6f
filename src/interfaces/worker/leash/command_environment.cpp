#include "interfaces/worker/leash/command_environment.hpp"

#include <string.h>
#include <sys/prctl.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <cstring>

#include "domain/values/ascii.hpp"

namespace sluice::worker {
namespace {

constexpr auto usual_names = std::to_array<std::string_view>(
    {"PATH", "HOME", "USER", "LOGNAME", "SHELL", "TERM", "TMPDIR", "TZ", "LANG", "LANGUAGE"});
constexpr std::string_view locale_prefix = "LC_";

}  // namespace

bool is_usual_variable(std::string_view name) {
    return name.starts_with(locale_prefix) ||
           std::find(usual_names.begin(), usual_names.end(), name) != usual_names.end();
}

bool is_variable_name(std::string_view name) {
    return !name.empty() && !is_digit(name.front()) &&
           std::all_of(name.begin(), name.end(),
                       [](char c) { return is_letter_or_digit(c) || c == '_'; });
}

Variables variables_named(const std::vector<std::string>& names) {
    Variables found;
    for (const std::string& name : names) {
        if (const char* value = std::getenv(name.c_str())) found.emplace_back(name, value);
    }
    return found;
}

void hide_from_commands() {
    ::prctl(PR_SET_DUMPABLE, 0, 0, 0, 0);
    for (char** variable = environ; *variable != nullptr; ++variable) {
        char* const copy = ::strdup(*variable);
        if (copy == nullptr) return;
        std::memset(*variable, 0, std::strlen(*variable));
        *variable = copy;
    }
}

}  // namespace sluice::worker
