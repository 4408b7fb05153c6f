// The measurements of a run: a window of time, CPU time of all processes that take part, answer
// times; and their output, one "name value" a line.
#pragma once

#include <sys/resource.h>

#include <algorithm>
#include <bit>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <optional>
#include <sstream>
#include <utility>

#include "bench/connection.hpp"

namespace sluice::bench {

inline void print_figure(const char* name, double value) {
    std::printf("%s %.4f\n", name, value);
}

inline double to_millis(Clock::duration time) {
    return std::chrono::duration<double, std::milli>(time).count();
}

// Counts times by size, within 3 %, in constant memory.
class Histogram {
  public:
    void add(Clock::duration time) {
        ++counts_[slot(std::chrono::duration_cast<std::chrono::microseconds>(time).count())];
        ++total_;
    }

    double millis_at(double share) const {
        auto left = static_cast<std::uint64_t>(share * static_cast<double>(total_));
        for (std::size_t i = 0; i < counts_.size(); ++i) {
            if (left < counts_[i]) return static_cast<double>(lower_bound(i)) / 1000;
            left -= counts_[i];
        }
        return 0;
    }

  private:
    static constexpr std::size_t parts = 32;  // of each power of two

    static std::size_t slot(std::int64_t micros) {
        const auto value = static_cast<std::uint64_t>(std::clamp<std::int64_t>(micros, 0, 1 << 30));
        if (value < parts) return value;
        const auto shift = static_cast<std::size_t>(std::bit_width(value) - std::bit_width(parts));
        return shift * parts + (value >> shift);
    }
    static std::uint64_t lower_bound(std::size_t at) {
        if (at < 2 * parts) return at;
        const std::size_t shift = at / parts - 1;
        return static_cast<std::uint64_t>(at - shift * parts) << shift;
    }

    std::array<std::uint64_t, 32 * parts> counts_{};
    std::uint64_t total_ = 0;
};

// The data of /proc about a process; times in seconds of all its threads.
struct ProcessTimes {
    int parent = 0;
    double own = 0;
    double ended_children = 0;
};

inline std::optional<ProcessTimes> process_times(const std::string& pid) {
    std::ifstream file("/proc/" + pid + "/stat");
    std::string text{std::istreambuf_iterator<char>(file), {}};
    const std::size_t name_end = text.rfind(')');
    if (name_end == std::string::npos) return std::nullopt;
    std::istringstream fields(text.substr(name_end + 1));
    std::string skipped;
    ProcessTimes times;
    fields >> skipped >> times.parent;
    for (int field = 5; field < 14; ++field) fields >> skipped;
    double user = 0, system = 0, children_user = 0, children_system = 0;
    fields >> user >> system >> children_user >> children_system;
    const auto hertz = static_cast<double>(::sysconf(_SC_CLK_TCK));
    times.own = (user + system) / hertz;
    times.ended_children = (children_user + children_system) / hertz;
    return times;
}

inline double cpu_seconds(int pid) {
    const auto times = process_times(std::to_string(pid));
    if (!times) die("process " + std::to_string(pid) + " has ended");
    return times->own;
}

// The CPU time of a process and of those that it has started.
inline double family_cpu_seconds(int pid) {
    const auto head = process_times(std::to_string(pid));
    if (!head) die("process " + std::to_string(pid) + " has ended");
    double seconds = head->own + head->ended_children;
    for (const auto& entry : std::filesystem::directory_iterator("/proc")) {
        const std::string name = entry.path().filename();
        if (name.find_first_not_of("0123456789") != std::string::npos) continue;
        const auto times = process_times(name);
        if (times && times->parent == pid) seconds += times->own;
    }
    return seconds;
}

inline double own_cpu_seconds() {
    rusage usage{};
    ::getrusage(RUSAGE_SELF, &usage);
    const auto seconds = [](const timeval& time) {
        return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_usec) / 1e6;
    };
    return seconds(usage.ru_utime) + seconds(usage.ru_stime);
}

// Time that all cores together have worked, for any program, or were taken away by the host.
inline double busy_seconds() {
    std::ifstream file("/proc/stat");
    std::string name;
    double user = 0, nice = 0, system = 0, idle = 0, disk = 0, irq = 0, soft_irq = 0, stolen = 0;
    file >> name >> user >> nice >> system >> idle >> disk >> irq >> soft_irq >> stolen;
    return (user + nice + system + irq + soft_irq + stolen) /
           static_cast<double>(::sysconf(_SC_CLK_TCK));
}

// The processes whose CPU time counts beside the client's own.
struct Servers {
    std::vector<int> engines{};  // by process number
    int store = 0;               // PostgreSQL's first process; zero: there is none

    double engine_cpu() const {
        double seconds = 0;
        for (const int pid : engines) seconds += cpu_seconds(pid);
        return seconds;
    }
    double store_cpu() const { return store == 0 ? 0 : family_cpu_seconds(store); }
};

// Counts only what happens between open() and close().
class Window {
  public:
    explicit Window(Servers servers) : servers_(std::move(servers)) {}

    bool is_open() const { return open_; }
    std::uint64_t jobs() const { return jobs_; }

    void open() {
        open_ = true;
        engine_cpu_ = -servers_.engine_cpu();
        store_cpu_ = -servers_.store_cpu();
        own_cpu_ = -own_cpu_seconds();
        all_cpu_ = -busy_seconds();
        since_ = Clock::now();
    }

    void close() {
        if (!open_) return;
        open_ = false;
        elapsed_ = Clock::now() - since_;
        engine_cpu_ += servers_.engine_cpu();
        store_cpu_ += servers_.store_cpu();
        own_cpu_ += own_cpu_seconds();
        all_cpu_ += busy_seconds();
    }

    void add_jobs(std::uint64_t jobs) {
        if (open_) jobs_ += jobs;
    }
    void add_answer(Clock::duration time) {
        if (open_) answers_.add(time);
    }

    void print() const {
        if (jobs_ == 0) die("nothing was done while the clock ran");
        const auto jobs = static_cast<double>(jobs_);
        print_figure("jobs", jobs);
        print_figure("seconds", elapsed_.count());
        print_figure("rate", jobs / elapsed_.count());
        print_figure("answer_p50_ms", answers_.millis_at(0.50));
        print_figure("answer_p99_ms", answers_.millis_at(0.99));
        print_figure("client_cpu_us", own_cpu_ * 1e6 / jobs);
        if (servers_.engines.empty()) return;
        print_figure("server_cpu_us", engine_cpu_ * 1e6 / jobs);
        if (servers_.store != 0) print_figure("store_cpu_us", store_cpu_ * 1e6 / jobs);
        const double others = (all_cpu_ - own_cpu_ - engine_cpu_ - store_cpu_) / elapsed_.count();
        print_figure("noise", std::max(0.0, others));  // cores that other programs used
    }

  private:
    Servers servers_;
    bool open_ = false;
    TimePoint since_{};
    Seconds elapsed_{};
    double engine_cpu_ = 0;
    double store_cpu_ = 0;
    double own_cpu_ = 0;
    double all_cpu_ = 0;
    std::uint64_t jobs_ = 0;
    Histogram answers_{};
};

}  // namespace sluice::bench
