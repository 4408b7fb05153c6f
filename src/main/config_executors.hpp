#pragma once

#include <map>
#include <optional>
#include <string>

#include "main/config_section.hpp"

// What runs jobs, from TOML. docs/workers.md explains each kind.
namespace sluice {

void read_runner(Section table, RunnerConfig& out);

std::map<std::string, worker::AnsibleNode> read_nodes(Section table);

// The executor of a job type; nothing when a problem was noted.
std::optional<worker::Executor> read_executor(
    const std::string& type, Section table,
    const std::map<std::string, worker::AnsibleNode>& nodes);

}  // namespace sluice
