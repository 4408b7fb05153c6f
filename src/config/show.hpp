#pragma once

#include <string>
#include <vector>

#include "config/config.hpp"

namespace sluice {

struct Setting {
    std::string key{};
    std::string value{};   // as it would stand in a file; secrets are hidden
    std::string origin{};  // "default", "sluice.toml:3", "SLUICE_NODE", "--listen"
};

// Every setting that is in force. Job types that no setting changes are left out unless `all`.
std::vector<Setting> settings_of(const Config& config, bool all);

// The secrets among them: the values that are hidden above, passwords in addresses, and those
// headers and variables of executors that have the name of a secret.
std::vector<std::string> secrets_of(const Config& config);

}  // namespace sluice
