#pragma once

#include <map>
#include <string>
#include <string_view>

#include "config/rows.hpp"

namespace sluice {

// Every setting that has a key of its own, in the order in which they are shown. Reading files,
// variables and flags, `config show`, the example file and the table in docs/configuration.md all
// go over these rows.
const Rows<Config>& setting_rows();

const Row<Config>& setting_row(std::string_view key);  // which must be one

// Parts of that table, each in a file of its own.
Rows<Config> admin_token_rows();
Rows<JwtSettings> jwt_rows();
Rows<http::deploy::Settings> deploy_rows();

// The policy of a job type, by the keys of its table.
const Rows<JobType>& job_type_rows();

// Judges each of several texts alone, by a function that gives the problem with it, or nothing.
Check<std::vector<std::string>> each_text(std::string (*problem_with)(std::string_view));

Rows<ConfiguredLimits> governance_rows();

// The settings of [deploy] as far as they depend on each other, when the rows have been read.
void check_deploy(Sections& sections, http::deploy::Settings& out);

// Tables that are no single setting: job types with their executors, nodes of playbooks, rules
// about what may run, and kinds of entities. Types and kinds that no setting changes are shown only
// with `all`.
void read_job_types(Section& file, Config& config);
void show_job_types(Listing& out, const Config& config, bool all);

std::optional<worker::Executor> read_executor(  // nothing: a problem was noted
    const std::string& type, Section table,
    const std::map<std::string, worker::AnsibleNode>& nodes);
void show_executor(Listing& out, const std::string& path, const worker::Executor& executor);

void read_nodes(Section table, std::map<std::string, worker::AnsibleNode>& out);
void show_nodes(Listing& out, const std::map<std::string, worker::AnsibleNode>& nodes);

// The tables of [governance] beside its row.
void read_governance(Section& governance, ConfiguredLimits& out);
void show_governance(Listing& out, const ConfiguredLimits& governance);

void read_entity_kinds(Section table, EntityKinds& out);
void show_entity_kinds(Listing& out, const Config& config, bool all);

}  // namespace sluice
