#pragma once

#include <string>

#include "domain/values/result.hpp"
#include "interfaces/worker/executors/executor.hpp"

// The files about a job for ansible-playbook. Both are JSON, so that no value can become a second
// variable, whatever it contains.
namespace sluice::worker {

// The node's host name in the inventory: its id, with _ for all but letters, digits, '-', '.' and
// '_', since some of the others have a special meaning to Ansible.
std::string ansible_host_name(const std::string& node_id);

// One host, with the connection settings of its record.
std::string ansible_inventory(const std::string& host_name, const AnsibleNode& node);

// The members of the payload and the job's ids as variables; the ids win. Ansible evaluates
// templates in variables and takes connection settings from them, so strings that may hold a
// template are marked as unsafe, which makes them plain text, and names that Ansible itself uses
// are refused.
Result<std::string> ansible_variables(const client::Job& job);

}  // namespace sluice::worker
