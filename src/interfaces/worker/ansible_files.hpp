#pragma once

#include <string>

#include "domain/result.hpp"
#include "interfaces/worker/executor.hpp"

// What ansible-playbook reads about a job. Both are JSON, so that no value can become a second
// variable, whatever it is made of.
namespace sluice::worker {

// What the host of a node is called there: its id, with _ for all but letters, digits, '-', '.' and
// '_', since Ansible reads more than a name into some of the others.
std::string ansible_host_name(const std::string& node_id);

// One host, reached as its record says.
std::string ansible_inventory(const std::string& host_name, const AnsibleNode& node);

// The members of the payload and the job's ids as variables; the ids win. Ansible evaluates
// templates in variables and takes connection settings from them, so strings that may hold a
// template are marked as unsafe, which makes them plain text, and names that Ansible itself uses
// are refused.
Result<std::string> ansible_variables(const client::Job& job);

}  // namespace sluice::worker
