#pragma once

#include <string>
#include <string_view>

#include "interfaces/worker/executors/supervised.hpp"
#include "sluice/worker.hpp"

namespace sluice::worker {

// Reads the output of ansible-playbook: log lines as they come, an end for the error message, and
// the counts of the recap.
class AnsibleOutput {
  public:
    // `host` is the only host of the inventory.
    AnsibleOutput(client::Context& context, std::string host)
        : context_(context), host_(std::move(host)) {}

    void take(const OutputLine& line);

    // The last 10 KB, beginning with a whole character and ending with a line break; may be empty.
    std::string ending() const;

    // {"recap":{"ok":4,"changed":1,…}} as Ansible counted for the host; empty when it did not.
    std::string result() const;

  private:
    void read_recap(std::string_view line);

    client::Context& context_;
    std::string host_;
    std::string end_{};
    bool in_recap_ = false;
    std::string recap_{};  // JSON
};

}  // namespace sluice::worker
