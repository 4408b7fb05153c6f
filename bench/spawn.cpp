// How fast this machine starts processes and waits for their end: posix_spawn of a program that
// does nothing, one after the other, and several at once. A worker that runs a command per job
// cannot be faster than that.
//
//   spawn [--seconds S] [--at-once N] [--program PATH]
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <string_view>

namespace {

using Clock = std::chrono::steady_clock;

struct Options {
    double seconds = 3;
    int at_once = 8;
    std::string program = "/bin/true";
};

[[noreturn]] void die(const std::string& what) {
    std::fprintf(stderr, "spawn: %s\n", what.c_str());
    std::exit(1);
}

Options read_options(int count, char** words) {
    Options options;
    for (int i = 1; i < count; i += 2) {
        const std::string_view name = words[i];
        if (i + 1 == count) die("usage: spawn [--seconds S] [--at-once N] [--program PATH]");
        if (name == "--seconds") {
            options.seconds = std::strtod(words[i + 1], nullptr);
        } else if (name == "--at-once") {
            options.at_once = std::atoi(words[i + 1]);
        } else if (name == "--program") {
            options.program = words[i + 1];
        } else {
            die("unknown option " + std::string(name));
        }
    }
    if (options.at_once < 1) die("--at-once must be at least 1");
    return options;
}

void start(std::string& program) {
    char* argv[]{program.data(), nullptr};
    pid_t pid = 0;
    if (::posix_spawn(&pid, program.c_str(), nullptr, nullptr, argv, environ) != 0) {
        die("cannot start " + program);
    }
}

// Processes per second, with this many running at any time.
double rate(Options options, int at_once) {
    const auto begin = Clock::now();
    const auto elapsed = [&] {
        return std::chrono::duration<double>(Clock::now() - begin).count();
    };
    for (int i = 0; i < at_once; ++i) start(options.program);
    int ended = 0;
    while (elapsed() < options.seconds) {
        if (::wait(nullptr) < 0) die("lost a process");
        ++ended;
        start(options.program);
    }
    const double result = ended / elapsed();
    for (int i = 0; i < at_once; ++i) ::wait(nullptr);
    return result;
}

}  // namespace

int main(int count, char** words) {
    const Options options = read_options(count, words);
    std::printf("spawn_rate_1 %.4f\n", rate(options, 1));
    std::printf("spawn_rate_%d %.4f\n", options.at_once, rate(options, options.at_once));
}
