#include "interfaces/worker/leash/spawn.hpp"

#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>

#include <algorithm>
#include <cerrno>
#include <string>
#include <string_view>

#include "interfaces/worker/leash/command_environment.hpp"

namespace sluice::worker {
namespace {

constexpr std::string_view default_path = "/usr/local/bin:/usr/bin:/bin";

std::string_view name_of(const char* variable) {
    const std::string_view text = variable;
    return text.substr(0, text.find('='));
}

// The environment of the command: of each name the last value given, then the variables of this
// process that every command gets.
std::vector<char*> merge_environment(const std::vector<char*>& given) {
    std::vector<char*> all;
    const auto add = [&all](char* variable) {
        const std::string_view name = name_of(variable);
        const auto same = [&](const char* other) { return name_of(other) == name; };
        if (std::none_of(all.begin(), all.end(), same)) all.push_back(variable);
    };
    for (auto variable = given.rbegin(); variable != given.rend(); ++variable) add(*variable);
    for (char** inherited = environ; *inherited != nullptr; ++inherited) {
        if (is_usual_variable(name_of(*inherited))) add(*inherited);
    }
    all.push_back(nullptr);
    return all;
}

std::string_view search_path(const std::vector<char*>& environment) {
    constexpr std::string_view prefix = "PATH=";
    for (const char* variable : environment) {
        if (variable == nullptr) break;
        const std::string_view text = variable;
        if (text.starts_with(prefix)) return text.substr(prefix.size());
    }
    return default_path;
}

// The files that the command's name may mean, in the order of PATH.
std::vector<std::string> candidates(std::string_view name, const std::vector<char*>& environment) {
    if (name.find('/') != std::string_view::npos) return {std::string(name)};
    std::vector<std::string> files;
    if (name.empty()) return files;
    std::string_view left = search_path(environment);
    for (;;) {
        const std::size_t end = left.find(':');
        const std::string_view folder = left.substr(0, end);
        files.push_back(folder.empty() ? std::string(name)
                                       : std::string(folder) + '/' + std::string(name));
        if (end == std::string_view::npos) return files;
        left.remove_prefix(end + 1);
    }
}

// The data that the new process needs, made before it exists.
struct Plan {
    const std::array<int, 4>& descriptors;
    const std::vector<int>& ignored_signals;
    const char* directory;
    std::vector<std::string> files;
    char* const* argv;
    char* const* environment;
    pid_t parent;
    std::atomic<std::int32_t>& pid_seen;
    volatile int error = 0;  // written by the child
    volatile StartStep step = StartStep::none;
};

bool arrange(const Plan& plan) {
    if (::setpgid(0, 0) != 0) return false;
    plan.pid_seen = ::getpid();
    if (::prctl(PR_SET_PDEATHSIG, SIGKILL) != 0) return false;
    if (::getppid() != plan.parent) ::_exit(127);  // the parent died before prctl()
    for (const int number : plan.ignored_signals) {
        struct sigaction action {};
        action.sa_handler = SIG_DFL;
        if (::sigaction(number, &action, nullptr) != 0) return false;
    }
    for (int i = 0; i < 4; ++i) {
        const int from = plan.descriptors[static_cast<std::size_t>(i)];
        if (from >= 0 && ::dup2(from, i) < 0) return false;
    }
    const unsigned first_closed = plan.descriptors[3] < 0 ? 3 : 4;
    if (::close_range(first_closed, ~0U, 0) != 0) return false;
    sigset_t none;
    ::sigemptyset(&none);
    return ::sigprocmask(SIG_SETMASK, &none, nullptr) == 0;
}

// Like execvp, but without the shell that it starts when a file has no known format.
int execute(const Plan& plan) {
    int error = ENOENT;
    for (const std::string& file : plan.files) {
        ::execve(file.c_str(), plan.argv, plan.environment);
        if (errno == EACCES) {
            error = EACCES;
        } else if (errno != ENOENT && errno != ENOTDIR && errno != ELOOP && errno != ENAMETOOLONG) {
            return errno;
        }
    }
    return error;
}

// Runs in the memory of the parent, which waits: system calls only.
[[noreturn]] [[gnu::noinline]] void become(Plan& plan) {
    if (!arrange(plan)) {
        plan.error = errno;
        plan.step = StartStep::prepare;
    } else if (*plan.directory != '\0' && ::chdir(plan.directory) != 0) {
        plan.error = errno;
        plan.step = StartStep::enter_directory;
    } else {
        plan.error = execute(plan);
        plan.step = StartStep::execute;
    }
    ::_exit(127);
}

}  // namespace

std::vector<int> find_ignored_signals() {
    std::vector<int> found;
    for (int number = 1; number < NSIG; ++number) {
        struct sigaction action {};
        if (::sigaction(number, nullptr, &action) != 0) continue;
        if (action.sa_handler == SIG_IGN) found.push_back(number);
    }
    return found;
}

Spawned spawn(CommandView& command, const std::array<int, 4>& descriptors,
              const std::vector<int>& ignored_signals, std::atomic<std::int32_t>& pid_seen) {
    const std::vector<char*> environment = merge_environment(command.environment);
    Plan plan{.descriptors = descriptors,
              .ignored_signals = ignored_signals,
              .directory = command.directory,
              .files = candidates(command.argv[0], environment),
              .argv = command.argv.data(),
              .environment = environment.data(),
              .parent = ::getpid(),
              .pid_seen = pid_seen};

    const pid_t pid = ::vfork();
    if (pid == 0) become(plan);
    if (pid < 0) return {.pid = 0, .error = errno, .step = StartStep::prepare};
    if (plan.step == StartStep::none) return {.pid = pid};
    pid_seen = 0;
    while (::waitpid(pid, nullptr, 0) < 0 && errno == EINTR) {
    }
    return {.pid = 0, .error = plan.error, .step = plan.step};
}

}  // namespace sluice::worker
