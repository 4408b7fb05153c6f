// What the engine has stored about when jobs ran: how many at once, how many starts a second.
#pragma once

#include <ctime>

#include "bench/figures.hpp"
#include "bench/jobs.hpp"

namespace sluice::bench {

struct LeaseTimes {
    std::vector<std::int64_t> starts{};  // ms since 1970, in order
    std::vector<std::int64_t> ends{};
};

// Milliseconds since 1970 of a time like 2026-11-15T04:11:02.922Z.
inline std::int64_t read_time(const std::string& text) {
    std::tm time{};
    int millis = 0;
    const int found =
        std::sscanf(text.c_str(), "%d-%d-%dT%d:%d:%d.%dZ", &time.tm_year, &time.tm_mon,
                    &time.tm_mday, &time.tm_hour, &time.tm_min, &time.tm_sec, &millis);
    if (found != 7) die("this is no time: " + text);
    time.tm_year -= 1900;
    time.tm_mon -= 1;
    return static_cast<std::int64_t>(::timegm(&time)) * 1000 + millis;
}

// The answer to a GET, however long: the server closes the connection behind it.
inline std::string fetch(int port, const std::string& path) {
    const int fd = dial(port);
    const std::string request =
        "GET " + path + " HTTP/1.0\r\nHost: localhost\r\n" + token_header() + "\r\n";
    if (fd < 0 || ::send(fd, request.data(), request.size(), MSG_NOSIGNAL) < 0) {
        die("nobody listens at port " + std::to_string(port));
    }
    std::string text;
    std::array<char, 65536> part{};
    for (ssize_t got = 0; (got = ::recv(fd, part.data(), part.size(), 0)) > 0;) {
        text.append(part.data(), static_cast<std::size_t>(got));
    }
    ::close(fd);
    if (text.compare(0, 12, "HTTP/1.1 200") != 0 && text.compare(0, 12, "HTTP/1.0 200") != 0) {
        die("the server answered: " + text.substr(0, 500));
    }
    return text;
}

// The text after `name` from `at` on, up to the next quote; moves `at` behind it.
inline std::optional<std::string> next_text(const std::string& page, std::string_view name,
                                            std::size_t& at) {
    const std::size_t found = page.find(name, at);
    if (found == std::string::npos) return std::nullopt;
    const std::size_t begin = found + name.size();
    at = page.find('"', begin);
    return page.substr(begin, at - begin);
}

// Those of all jobs of the queue that have succeeded.
inline LeaseTimes read_lease_times(int port, const std::string& queue) {
    LeaseTimes times;
    std::string cursor;
    do {
        const std::string page =
            fetch(port, "/api/v1/jobs?state=succeeded&limit=200&queue=" + queue + cursor);
        std::size_t at = 0;
        while (const auto completed = next_text(page, R"("completed_at":")", at)) {
            times.ends.push_back(read_time(*completed));
        }
        at = 0;
        while (const auto started = next_text(page, R"("started_at":")", at)) {
            times.starts.push_back(read_time(*started));
        }
        at = 0;
        const auto next = next_text(page, R"("next_cursor":")", at);
        cursor = next ? "&cursor=" + *next : "";
    } while (!cursor.empty());
    if (times.starts.empty() || times.starts.size() != times.ends.size()) {
        die("the list of jobs lacks times");
    }
    std::sort(times.starts.begin(), times.starts.end());
    std::sort(times.ends.begin(), times.ends.end());
    return times;
}

// How many leases were open on average in this time.
inline double mean_active(const LeaseTimes& times, std::int64_t from, std::int64_t until) {
    std::int64_t sum = 0;
    for (const std::int64_t start : times.starts) sum += until - std::clamp(start, from, until);
    for (const std::int64_t end : times.ends) sum -= until - std::clamp(end, from, until);
    return static_cast<double>(sum) / static_cast<double>(until - from);
}

// How far the starts of any span of time T were above burst + T × rate: not above 1, since times
// are rounded to milliseconds, where the engine keeps the rate.
inline double most_above_bucket(const LeaseTimes& times, double rate, double burst) {
    double least = 0;
    double most = 0;
    for (std::size_t i = 0; i < times.starts.size(); ++i) {
        const double refilled =
            static_cast<double>(times.starts[i] - times.starts[0]) * rate / 1000;
        const auto before = static_cast<double>(i);
        least = std::min(least, before - refilled);
        most = std::max(most, before + 1 - refilled - least);
    }
    return most - burst;
}

// `skip`: from the first start to the time that is looked at, which ends with the last start, or
// after `duration`.
inline void print_lease_times(int port, const std::string& queue, Seconds skip, Seconds duration,
                              double rate, double burst) {
    const LeaseTimes times = read_lease_times(port, queue);
    const auto millis = [](Seconds time) { return static_cast<std::int64_t>(time.count() * 1000); };
    const std::int64_t from = times.starts.front() + millis(skip);
    const std::int64_t until =
        duration > Seconds{0} ? from + millis(duration) : times.starts.back();
    if (until <= from || until > times.starts.back()) die("too few jobs ran for this time");
    const auto below = [&](std::int64_t time) {
        return std::lower_bound(times.starts.begin(), times.starts.end(), time);
    };
    print_figure("jobs", static_cast<double>(times.starts.size()));
    print_figure("mean_active", mean_active(times, from, until));
    print_figure("start_rate", static_cast<double>(below(until) - below(from)) * 1000 /
                                   static_cast<double>(until - from));
    if (rate > 0) print_figure("above_bucket", most_above_bucket(times, rate, burst));
}

}  // namespace sluice::bench
