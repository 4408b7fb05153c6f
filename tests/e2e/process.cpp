#include "e2e/process.hpp"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <stdexcept>
#include <thread>

namespace sluice::e2e {
namespace {

using Clock = std::chrono::steady_clock;

Millis left_until(Clock::time_point deadline) {
    const auto left = std::chrono::ceil<Millis>(deadline - Clock::now());
    return std::max(left, Millis(0));
}

// Runs between fork and exec, so that it must not allocate.
[[noreturn]] void become(char* const* arguments, int output, int errors) {
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    dup2(output, STDOUT_FILENO);
    dup2(errors, STDERR_FILENO);
    execvp(arguments[0], arguments);
    _exit(127);
}

}  // namespace

bool eventually(const std::function<bool()>& holds, Millis patience) {
    const auto deadline = Clock::now() + patience;
    while (!holds()) {
        if (Clock::now() > deadline) return false;
        std::this_thread::sleep_for(Millis(5));
    }
    return true;
}

Millis since(Clock::time_point start) {
    return std::chrono::duration_cast<Millis>(Clock::now() - start);
}

TempFolder::TempFolder() {
    std::string pattern = (std::filesystem::temp_directory_path() / "sluice-e2e-XXXXXX").string();
    if (mkdtemp(pattern.data()) == nullptr) throw std::runtime_error("cannot make " + pattern);
    path_ = pattern;
}

TempFolder::~TempFolder() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
}

Process::Process(std::vector<std::string> command) {
    std::vector<char*> arguments;
    arguments.reserve(command.size() + 1);
    for (std::string& argument : command) arguments.push_back(argument.data());
    arguments.push_back(nullptr);
    std::array<int, 2> output{};
    std::array<int, 2> errors{};
    if (pipe2(output.data(), O_CLOEXEC) != 0 || pipe2(errors.data(), O_CLOEXEC) != 0) {
        throw std::runtime_error("cannot make a pipe");
    }
    pid_ = fork();
    if (pid_ < 0) throw std::runtime_error("cannot fork");
    if (pid_ == 0) become(arguments.data(), output[1], errors[1]);
    close(output[1]);
    close(errors[1]);
    output_pipe_ = output[0];
    error_pipe_ = errors[0];
    process_ = static_cast<int>(syscall(SYS_pidfd_open, pid_, 0));
    if (process_ < 0) throw std::runtime_error("cannot watch a process");
}

Process::~Process() {
    if (!end_) {
        send_signal(SIGKILL);
        wait(Millis(10'000));
    }
    for (const int descriptor : {process_, output_pipe_, error_pipe_}) {
        if (descriptor >= 0) close(descriptor);
    }
}

void Process::send_signal(int signal) const {
    if (!end_) kill(pid_, signal);
}

void Process::take(int& pipe, std::string& into) {
    std::array<char, 4096> bytes{};
    const ssize_t count = read(pipe, bytes.data(), bytes.size());
    if (count > 0) {
        into.append(bytes.data(), static_cast<std::size_t>(count));
    } else {
        close(std::exchange(pipe, -1));
    }
}

bool Process::read_some(Millis patience) {
    std::array<pollfd, 3> watched{pollfd{output_pipe_, POLLIN, 0}, pollfd{error_pipe_, POLLIN, 0},
                                  pollfd{process_, POLLIN, 0}};
    if (poll(watched.data(), watched.size(), static_cast<int>(patience.count())) <= 0) return false;
    if (watched[0].revents != 0) take(output_pipe_, output_);
    if (watched[1].revents != 0) take(error_pipe_, errors_);
    return watched[0].revents != 0 || watched[1].revents != 0;
}

std::optional<std::string> Process::read_line(Millis patience) {
    const auto deadline = Clock::now() + patience;
    for (;;) {
        const std::size_t end = output_.find('\n');
        if (end != std::string::npos) {
            std::string line = output_.substr(0, end);
            output_.erase(0, end + 1);
            return line;
        }
        if (!read_some(left_until(deadline))) return std::nullopt;
    }
}

std::optional<int> Process::wait(Millis patience) {
    const auto deadline = Clock::now() + patience;
    while (!end_) {
        while (read_some(Millis(0))) {
        }
        int status = 0;
        if (waitpid(pid_, &status, WNOHANG) == pid_) {
            end_ = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
            while (read_some(Millis(0))) {
            }
            break;
        }
        if (left_until(deadline) == Millis(0)) return std::nullopt;
        read_some(left_until(deadline));
    }
    return end_;
}

}  // namespace sluice::e2e
