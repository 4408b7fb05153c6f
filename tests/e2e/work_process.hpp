#pragma once

#include <fstream>
#include <iterator>
#include <sstream>
#include <string>
#include <vector>

#include "e2e/api.hpp"
#include "e2e/process.hpp"
#include "support/is_over.hpp"

namespace sluice::e2e {

// `sluice work` for the jobs of one queue, with a shell script as its command.
class WorkProcess {
  public:
    WorkProcess(const Api& api, const std::string& script, std::vector<std::string> more = {})
        : process_(command(api, script, std::move(more))) {}

    Process& process() { return process_; }

    // Asks it to stop, and returns its exit code; -1: it did not stop in time.
    int stop(Millis patience = Millis(10'000)) {
        process_.send_signal(SIGTERM);
        return process_.wait(patience).value_or(-1);
    }

    // The process that holds its commands.
    pid_t leash() const {
        pid_t pid = 0;
        const std::string self = std::to_string(process_.pid());
        std::ifstream("/proc/" + self + "/task/" + self + "/children") >> pid;
        return pid;
    }

  private:
    static std::vector<std::string> command(const Api& api, const std::string& script,
                                            std::vector<std::string> more) {
        std::vector<std::string> words{
            SLUICE_BINARY, "work",     "--server", "http://127.0.0.1:" + std::to_string(api.port()),
            "--queue",     api.queue()};
        words.insert(words.end(), more.begin(), more.end());
        for (const char* word : {"--exec", "/bin/sh", "-c"}) words.emplace_back(word);
        words.push_back(script);
        return words;
    }

    Process process_;
};

// The process ids that a job's command has written to a file, as many as these, once they are
// there.
inline std::vector<pid_t> pids_in(const std::filesystem::path& file, std::size_t count) {
    std::vector<pid_t> pids;
    eventually([&] {
        std::ifstream stream(file);
        pids.assign(std::istream_iterator<pid_t>(stream), {});
        return pids.size() >= count;
    });
    return pids;
}

}  // namespace sluice::e2e
