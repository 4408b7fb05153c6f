// The crash campaign on the real binary: see README.md.
#include <fmt/format.h>
#include <sched.h>
#include <sys/mount.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <map>
#include <optional>
#include <random>

#include "chaos/summary.hpp"

namespace sluice::chaos {
namespace {

using Clock = std::chrono::steady_clock;

// clang-format off
constexpr auto faults = std::to_array<Fault>({
    // name               short   long
    {"kill",                 120,  2000, kill_on_sqlite},
    {"kill-postgres",         25,   300, kill_on_postgres},
    {"crash-points",          40, 99999, crash_points},
    {"power-cut",             15,   200, power_cuts},
    {"power-cut-control",     10,    10, power_cut_control},
    {"io-errors",             22,   400, io_errors},
    {"disk-full",              2,    20, full_disks},
    {"one-node",               1,     6, one_node},
    {"bad-network",            1,     6, bad_network},
    {"set-clocks",             1,     6, set_clocks},
    {"three-nodes",            1,     6, three_nodes},
    {"set-database-clock",     1,     6, set_database_clock},
    {"frozen-nodes",           1,     6, frozen_nodes},
    {"dying-database",         1,     6, dying_database},
});
// clang-format on

struct Wish {
    std::optional<int> count{};
    std::string only{};
};

struct Options {
    bool is_long = false;
    std::optional<int> seconds{};
    std::optional<std::uint64_t> seed{};
    std::map<std::string, Wish, std::less<>> wishes{};  // by fault; none: all of them
};

constexpr const char* usage =
    "usage: chaos [--seconds N | --long] [--seed S] [FAULT | FAULT=COUNT | FAULT@POINT]...\n";

[[noreturn]] void refuse(const std::string& why) {
    fmt::print(stderr, "chaos: {}\n{}faults:", why, usage);
    for (const Fault& fault : faults) fmt::print(stderr, " {}", fault.name);
    fmt::print(stderr, "\n");
    std::exit(2);
}

std::uint64_t number(std::string_view text) {
    std::uint64_t value = 0;
    const auto read = std::from_chars(text.begin(), text.end(), value);
    if (read.ec != std::errc() || read.ptr != text.end()) {
        refuse(fmt::format("\"{}\" is no number", text));
    }
    return value;
}

void read_wish(std::string_view word, Options& options) {
    const std::size_t end = word.find_first_of("=@");
    const std::string_view name = word.substr(0, end);
    if (std::none_of(faults.begin(), faults.end(),
                     [&](const Fault& f) { return f.name == name; })) {
        refuse(fmt::format("there is no fault \"{}\"", name));
    }
    Wish wish;
    if (end != std::string_view::npos && word[end] == '@') wish.only = word.substr(end + 1);
    if (end != std::string_view::npos && word[end] == '=') {
        wish.count = static_cast<int>(number(word.substr(end + 1)));
    }
    options.wishes.emplace(name, wish);
}

Options read_options(const std::vector<std::string_view>& words) {
    Options options;
    for (std::size_t i = 0; i < words.size(); ++i) {
        const bool has_value = words[i] == "--seed" || words[i] == "--seconds";
        if (has_value && i + 1 == words.size()) refuse(fmt::format("{} needs a number", words[i]));
        if (words[i] == "--long") {
            options.is_long = true;
        } else if (words[i] == "--seed") {
            options.seed = number(words[++i]);
        } else if (words[i] == "--seconds") {
            options.seconds = static_cast<int>(number(words[++i]));
        } else {
            read_wish(words[i], options);
        }
    }
    return options;
}

// Mounts from here on are seen by this process and its children only, and end with them.
void have_own_mounts() {
    if (geteuid() != 0 || unshare(CLONE_NEWNS) != 0) return;
    mount("none", "/", nullptr, MS_REC | MS_PRIVATE, nullptr);
}

Tally run(const Fault& fault, const Order& order) {
    Tally tally;
    tally.fault = fault.name;
    const auto begin = Clock::now();
    try {
        fault.run(order, tally);
    } catch (const Skipped& reason) {
        tally.skipped = reason.what();
    } catch (const std::exception& error) {
        ++tally.violations;
        fmt::print("{}: {}\n", fault.name, error.what());
    }
    tally.seconds = std::chrono::duration<double>(Clock::now() - begin).count();
    fmt::print("{}: {} cycles in {:.1f} s\n", fault.name, tally.cycles, tally.seconds);
    std::fflush(stdout);
    return tally;
}

// With --seconds each fault has its share of the time, and more cycles than fit in it.
Order order_for(const Fault& fault, const Wish& wish, const Options& options, std::uint64_t seed,
                std::size_t faults_left, Clock::time_point end) {
    Order order;
    order.seed = seed;
    order.only = wish.only;
    order.count = options.is_long || options.seconds ? fault.long_count : fault.short_count;
    order.count = wish.count.value_or(order.count);
    if (options.seconds) {
        order.deadline = Clock::now() + (end - Clock::now()) / static_cast<int>(faults_left);
    }
    return order;
}

int run_all(const Options& options) {
    const std::uint64_t seed = options.seed.value_or(std::random_device{}() % 1'000'000);
    fmt::print("seed {}\n", seed);
    const auto end = Clock::now() + std::chrono::seconds(options.seconds.value_or(0));
    std::size_t left = options.wishes.empty() ? faults.size() : options.wishes.size();
    std::vector<Tally> tallies;
    for (const Fault& fault : faults) {
        const auto wish = options.wishes.find(fault.name);
        if (!options.wishes.empty() && wish == options.wishes.end()) continue;
        const Wish what = options.wishes.empty() ? Wish{} : wish->second;
        tallies.push_back(run(fault, order_for(fault, what, options, seed, left--, end)));
    }
    fmt::print("\n{}", table(tallies));
    return std::all_of(tallies.begin(), tallies.end(), [](const Tally& t) { return t.is_good(); })
               ? 0
               : 1;
}

}  // namespace
}  // namespace sluice::chaos

int main(int count, char** words) {
    setvbuf(stdout, nullptr, _IOLBF, 0);
    sluice::chaos::have_own_mounts();
    return sluice::chaos::run_all(sluice::chaos::read_options({words + 1, words + count}));
}
