#pragma once

#include <sys/types.h>

#include <chrono>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace sluice::e2e {

using Millis = std::chrono::milliseconds;

// Asks again and again until `holds` returns true; false when it did not within `patience`.
bool eventually(const std::function<bool()>& holds, Millis patience = Millis(10'000));

Millis since(std::chrono::steady_clock::time_point start);

// A folder of its own, removed with everything in it.
class TempFolder {
  public:
    TempFolder();
    ~TempFolder();
    TempFolder(const TempFolder&) = delete;
    TempFolder& operator=(const TempFolder&) = delete;

    const std::filesystem::path& path() const { return path_; }

  private:
    std::filesystem::path path_;
};

// A child process and what it prints. It is killed, if it still runs, when the handle goes, and
// when the test process dies. One thread.
class Process {
  public:
    explicit Process(std::vector<std::string> command);
    ~Process();
    Process(const Process&) = delete;
    Process& operator=(const Process&) = delete;

    pid_t pid() const { return pid_; }

    // The next line of its standard output, or nothing when none came in time.
    std::optional<std::string> read_line(Millis patience);

    void send_signal(int signal) const;

    // How it ended: its exit code, or 128 and the signal's number. Nothing: it still runs.
    std::optional<int> wait(Millis patience);

    // The output that read_line() did not return. Complete once wait() has returned its end.
    const std::string& output() const { return output_; }
    const std::string& errors() const { return errors_; }

  private:
    bool read_some(Millis patience);  // false: nothing came in time
    void take(int& pipe, std::string& into);

    pid_t pid_ = -1;
    int process_ = -1;  // a descriptor that is readable once the process has ended
    int output_pipe_ = -1;
    int error_pipe_ = -1;
    std::string output_;
    std::string errors_;
    std::optional<int> end_;
};

}  // namespace sluice::e2e
