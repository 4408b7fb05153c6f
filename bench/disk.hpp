// The least cost of a commit: appending 4 kB to a file and waiting until the disk has it.
#pragma once

#include <fcntl.h>

#include "bench/figures.hpp"

namespace sluice::bench {

inline void measure_disk(const std::string& folder, Seconds duration) {
    const std::string path = folder + "/disk.probe";
    const int fd = ::open(path.c_str(), O_CREAT | O_TRUNC | O_WRONLY | O_CLOEXEC, 0600);
    if (fd < 0) die("cannot write " + path);
    std::array<char, 4096> block{};
    Histogram times;
    const TimePoint start = Clock::now();
    for (TimePoint now = start; now - start < duration;) {
        if (::write(fd, block.data(), block.size()) < 0 || ::fdatasync(fd) != 0) {
            die("cannot write " + path);
        }
        const TimePoint then = std::exchange(now, Clock::now());
        times.add(now - then);
    }
    ::close(fd);
    ::unlink(path.c_str());
    print_figure("p50_ms", times.millis_at(0.50));
    print_figure("p99_ms", times.millis_at(0.99));
}

}  // namespace sluice::bench
