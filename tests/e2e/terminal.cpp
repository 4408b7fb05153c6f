#include "e2e/terminal.hpp"

#include <poll.h>
#include <pty.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cctype>
#include <stdexcept>
#include <string_view>

namespace sluice::e2e {
namespace {

using Clock = std::chrono::steady_clock;

Millis time_left_until(Clock::time_point deadline) {
    return std::max(std::chrono::ceil<Millis>(deadline - Clock::now()), Millis(0));
}

bool is_name_of(std::string_view entry, std::string_view name) {
    return entry.starts_with(name) && entry.substr(name.size()).starts_with('=');
}

// This process's environment, with the given names replaced, and without variables that would
// change the result.
std::vector<std::string> environment_with(
    std::vector<std::pair<std::string, std::string>> changes) {
    const auto add_default = [&](const std::string& name, const std::string& value) {
        for (const auto& change : changes) {
            if (change.first == name) return;
        }
        changes.emplace_back(name, value);
    };
    add_default("TERM", "xterm");
    add_default("LC_ALL", "C.UTF-8");
    add_default("NO_COLOR", "");
    add_default("COLUMNS", "");
    std::vector<std::string> entries;
    for (char** entry = environ; *entry != nullptr; ++entry) {
        bool is_changed = false;
        for (const auto& [name, value] : changes) is_changed |= is_name_of(*entry, name);
        if (!is_changed) entries.emplace_back(*entry);
    }
    for (const auto& [name, value] : changes) entries.push_back(name + "=" + value);
    return entries;
}

std::vector<char*> pointers(std::vector<std::string>& texts) {
    std::vector<char*> out;
    for (std::string& text : texts) out.push_back(text.data());
    out.push_back(nullptr);
    return out;
}

}  // namespace

Terminal::Terminal(const std::vector<std::string>& arguments, const TerminalOptions& options) {
    std::vector<std::string> command{SLUICE_BINARY};
    command.insert(command.end(), arguments.begin(), arguments.end());
    std::vector<std::string> environment = environment_with(options.environment);
    const std::vector<char*> argv = pointers(command);
    const std::vector<char*> envp = pointers(environment);
    winsize size{};
    size.ws_row = 50;
    size.ws_col = static_cast<unsigned short>(options.columns);
    pid_ = forkpty(&master_, nullptr, nullptr, &size);
    if (pid_ < 0) throw std::runtime_error("cannot make a terminal");
    if (pid_ == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        execve(argv[0], argv.data(), envp.data());
        _exit(127);
    }
}

Terminal::~Terminal() {
    if (!end_) {
        kill(pid_, SIGKILL);
        waitpid(pid_, nullptr, 0);
    }
    close(master_);
}

bool Terminal::read_some(Millis patience) {
    pollfd watched{master_, POLLIN, 0};
    if (poll(&watched, 1, static_cast<int>(patience.count())) <= 0) return false;
    std::array<char, 4096> bytes{};
    const ssize_t count = read(master_, bytes.data(), bytes.size());
    if (count <= 0) return false;  // the program has closed its side
    written_.append(bytes.data(), static_cast<std::size_t>(count));
    return true;
}

bool Terminal::shows(const std::string& text, Millis patience) {
    const auto deadline = Clock::now() + patience;
    while (written_.find(text) == std::string::npos) {
        if (time_left_until(deadline) == Millis(0) || !read_some(time_left_until(deadline))) {
            return written_.find(text) != std::string::npos;
        }
    }
    return true;
}

void Terminal::type(const std::string& keys) {
    if (write(master_, keys.data(), keys.size()) < 0) throw std::runtime_error("cannot type");
}

std::optional<int> Terminal::wait(Millis patience) {
    const auto deadline = Clock::now() + patience;
    while (!end_) {
        while (read_some(Millis(10))) {
        }
        int status = 0;
        if (waitpid(pid_, &status, WNOHANG) == pid_) {
            end_ = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
            while (read_some(Millis(0))) {
            }
        } else if (time_left_until(deadline) == Millis(0)) {
            return std::nullopt;
        }
    }
    return end_;
}

std::string Terminal::screen() const {
    std::string out;
    std::string line;
    for (std::size_t i = 0; i < written_.size(); ++i) {
        const std::string_view rest = std::string_view(written_).substr(i);
        if (rest.starts_with("\x1b[")) {
            const std::size_t end = rest.find_first_not_of("0123456789;", 2);
            if (end == std::string_view::npos) break;
            if (rest[end] == 'K') line.clear();
            i += end;
        } else if (rest.starts_with("\r\n")) {
            out += line + "\n";
            line.clear();
            ++i;
        } else if (rest[0] == '\r') {
            // The program erases the line next.
        } else {
            line += rest[0];
        }
    }
    return out + line;
}

Ended run_on_terminal(const std::vector<std::string>& arguments, const TerminalOptions& options) {
    Terminal terminal(arguments, options);
    const auto code = terminal.wait();
    return {code.value_or(-1), terminal.screen(), ""};
}

}  // namespace sluice::e2e
