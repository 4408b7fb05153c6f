#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

#include "checker/evidence.hpp"

namespace sluice::chaos {

// A fault cannot be run here, for example without the right to mount. The table says so.
class Skipped : public std::runtime_error {
  public:
    using std::runtime_error::runtime_error;
};

// How one fault is to be run.
struct Order {
    int count = 0;           // cycles
    std::string only{};      // a single point instead, to repeat it
    std::uint64_t seed = 1;  // of the first episode; the next ones count on
    std::optional<std::chrono::steady_clock::time_point> deadline{};

    bool is_over() const { return deadline && std::chrono::steady_clock::now() >= *deadline; }
};

// The result of one fault: a line of the table.
struct Tally {
    std::string fault{};
    int cycles = 0;
    std::size_t acknowledged = 0;  // operations other than reads that were answered with success
    std::size_t jobs = 0;
    std::size_t unknown = 0;  // operations whose outcome is unknown
    std::size_t violations = 0;
    std::chrono::milliseconds worst_recovery{0};
    double seconds = 0;
    std::string note{};  // e.g. how many points there are
    std::string skipped{};

    bool is_good() const { return violations == 0; }
};

// A kind of fault. New ones are a row in the table of main.cpp.
struct Fault {
    const char* name;
    int short_count;
    int long_count;
    void (*run)(const Order&, Tally&);
};

// kill_loop.cpp: the engine is killed at any moment, under load.
void kill_on_sqlite(const Order& order, Tally& tally);
void kill_on_postgres(const Order& order, Tally& tally);

// crash_points.cpp: the engine is killed at the Nth call that writes.
void crash_points(const Order& order, Tally& tally);

// io_errors.cpp: the Nth call that writes fails.
void io_errors(const Order& order, Tally& tally);

// power_cut.cpp: data that has not reached the disk is gone. The control has a disk that lies, and
// must lose jobs.
void power_cuts(const Order& order, Tally& tally);
void power_cut_control(const Order& order, Tally& tally);

// disk_full.cpp: the disk is full, and has space again later.
void full_disks(const Order& order, Tally& tally);

// campaigns.cpp: nodes, networks, clocks and databases fail, ten seconds at a time. A cycle is one
// failure.
void one_node(const Order& order, Tally& tally);
void bad_network(const Order& order, Tally& tally);
void set_clocks(const Order& order, Tally& tally);
void set_database_clock(const Order& order, Tally& tally);
void three_nodes(const Order& order, Tally& tally);
void frozen_nodes(const Order& order, Tally& tally);
void dying_database(const Order& order, Tally& tally);

// Adds the numbers of the clients' record to the line.
void count(const checker::Evidence& evidence, Tally& tally);

// The table, in Markdown.
std::string table(const std::vector<Tally>& tallies);

}  // namespace sluice::chaos
