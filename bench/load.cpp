// The load client of the benchmarks: one thread, one epoll set, texts made in advance. It shares
// the machine with the server, so its own cost lowers the figures.
#include <map>

#include "bench/beanstalk.hpp"
#include "bench/closed_loop.hpp"
#include "bench/disk.hpp"
#include "bench/holding_workers.hpp"
#include "bench/lease_times.hpp"
#include "bench/pickup.hpp"
#include "bench/quotas.hpp"

namespace sluice::bench {
namespace {

constexpr const char* usage = R"(usage: load <mode> [--option value]...

  submit, cycle, drain      the engine: submit; submit, claim, report; claim, report
  deploy                    the engine: create, claim, report by the paths of the contract deploy
  pickup                    the engine: from a submit to the answer of a parked claim
  park                      the engine: claims that wait, and nothing comes
  hold                      the engine: claims that wait, then --hold-ms, then the report
  times                     the engine: how many jobs of the queue ran at once, and how many
                            started a second, from --skip S after the first start on; with --rate
                            and --burst, how many starts were more than a bucket permits
  quotas                    the engine: one quota for each of --tenants N, with --bounds MEMBERS
  put, reserve              beanstalkd: put; reserve and delete
  fsync                     the disk: append 4 kB, fdatasync
  ready                     wait until GET /readyz answers 200
  port                      print a port that is free

  --port P,… --pid P,…      where the servers listen; the processes whose CPU time is counted
  --store-pid P             the same for PostgreSQL's first process and all that it started
  --connections N --batch N (or --depth N: commands in one write)
  --seconds S --warm-up S   how long; without --seconds, until --jobs N are submitted or the
                            queue is empty
  --slice S                 tell the rate of each S seconds, too, and its CPU time for a job
  --wait-ms MS              how long a claim of a cycle may wait for a job
  --alone 0                 others talk to the engine, too: its counts are not compared
  --queue NAME --type NAME --tenant NAME --source NAME
                            of the jobs
  --tenants N               by turns for so many tenants
  --samples N --folder PATH
)";

class Options {
  public:
    Options(int count, char** words) {
        for (int i = 2; i < count; i += 2) {
            const std::string_view name = words[i];
            if (!name.starts_with("--") || i + 1 >= count) die(usage);
            values_[std::string(name.substr(2))] = words[i + 1];
        }
    }

    std::string text(const std::string& name, const std::string& otherwise) const {
        const auto found = values_.find(name);
        return found == values_.end() ? otherwise : found->second;
    }
    double number(const std::string& name, double otherwise) const {
        const auto found = values_.find(name);
        return found == values_.end() ? otherwise : std::strtod(found->second.c_str(), nullptr);
    }
    std::size_t count(const std::string& name, std::size_t otherwise) const {
        return static_cast<std::size_t>(number(name, static_cast<double>(otherwise)));
    }
    std::vector<int> numbers(const std::string& name) const {
        std::vector<int> out;
        std::istringstream words(text(name, ""));
        for (std::string word; std::getline(words, word, ',');) out.push_back(std::stoi(word));
        return out;
    }
    std::vector<int> ports() const {
        const std::vector<int> ports = numbers("port");
        if (ports.empty()) die("--port is missing");
        return ports;
    }
    Servers servers() const {
        return {.engines = numbers("pid"), .store = static_cast<int>(number("store-pid", 0))};
    }

  private:
    std::map<std::string, std::string> values_{};
};

JobNames job_names(const Options& options) {
    return {.queue = options.text("queue", "bench"),
            .type = options.text("type", "bench.job"),
            .tenant = options.text("tenant", ""),
            .source = options.text("source", "")};
}

void run_closed_loop(const Options& options, std::vector<Step> steps,
                     Contract contract = Contract::native) {
    ClosedLoop loop({.contract = contract,
                     .steps = std::move(steps),
                     .ports = options.ports(),
                     .servers = options.servers(),
                     .names = job_names(options),
                     .tenants = options.count("tenants", 0),
                     .connections = options.count("connections", 1),
                     .batch = options.count("batch", 1),
                     .warm_up = Seconds(options.number("warm-up", 0)),
                     .duration = Seconds(options.number("seconds", 0)),
                     .jobs = options.count("jobs", 0),
                     .wait_ms = static_cast<int>(options.number("wait-ms", 0)),
                     .is_alone = options.number("alone", 1) != 0,
                     .slice = Seconds(options.number("slice", 0))});
    loop.run();
}

void run_beanstalk(const Options& options, bool is_put) {
    Beanstalk({.is_put = is_put,
               .port = options.ports().front(),
               .server_pid = options.servers().engines.front(),
               .connections = options.count("connections", 1),
               .depth = options.count("depth", 1),
               .duration = Seconds(options.number("seconds", 1))})
        .run();
}

void print_free_port() {
    const int fd = ::socket(AF_INET, SOCK_STREAM, 0);
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof address;
    auto* const generic = reinterpret_cast<sockaddr*>(&address);
    if (::bind(fd, generic, size) != 0 || ::getsockname(fd, generic, &size) != 0) {
        die("there is no free port");
    }
    ::close(fd);
    std::printf("%d\n", ntohs(address.sin_port));
}

// True when the server said 200 before it closed the connection.
bool is_ready(int port) {
    const int fd = dial(port);
    if (fd < 0) return false;
    const std::string_view request =
        "GET /readyz HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n";
    std::array<char, 12> line{};
    std::size_t got = 0;
    if (::send(fd, request.data(), request.size(), MSG_NOSIGNAL) > 0) {
        while (got < line.size()) {
            const ssize_t more = ::recv(fd, line.data() + got, line.size() - got, 0);
            if (more <= 0) break;
            got += static_cast<std::size_t>(more);
        }
    }
    ::close(fd);
    return std::string_view(line.data(), got) == "HTTP/1.1 200";
}

void wait_until_ready(const Options& options) {
    const TimePoint until = Clock::now() + std::chrono::duration_cast<Clock::duration>(
                                               Seconds(options.number("seconds", 60)));
    while (!is_ready(options.ports().front())) {
        if (Clock::now() > until) die("the server did not become ready");
        std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
}

// No job is submitted to the queue of these claims, so none may be answered before it has waited.
void park(const Options& options) {
    const auto wait = static_cast<int>(options.number("seconds", 20) * 1000);
    const std::string claim = claim_text({.queue = options.text("queue", "nobody")}, 1, wait);
    Poller poller;
    std::vector<std::unique_ptr<Connection>> parked;
    for (std::uint32_t i = 0; i < options.count("connections", 1); ++i) {
        parked.push_back(std::make_unique<Connection>(poller, i, options.ports().front()));
        parked.back()->send(claim);
    }
    if (poller.wait(wait - 1000, [](std::uint32_t, std::uint32_t) {})) {
        die("a claim was answered though there was no job for it");
    }
}

void hold(const Options& options) {
    HoldingWorkers({.ports = options.ports(),
                    .servers = options.servers(),
                    .names = job_names(options),
                    .workers = options.count("connections", 1),
                    .hold = std::chrono::milliseconds(options.count("hold-ms", 0)),
                    .duration = Seconds(options.number("seconds", 1))})
        .run();
}

void run(std::string_view mode, const Options& options) {
    if (mode == "submit") return run_closed_loop(options, {Step::submit});
    if (mode == "cycle") {
        return run_closed_loop(options, {Step::submit, Step::claim, Step::report});
    }
    if (mode == "deploy") {
        add_runtime_node(options.ports().front());
        return run_closed_loop(options, {Step::submit, Step::claim, Step::report},
                               Contract::deploy);
    }
    if (mode == "drain") return run_closed_loop(options, {Step::claim, Step::report});
    if (mode == "pickup") {
        Pickup pickup(options.ports(), options.servers(), options.text("queue", "pickup"));
        return pickup.run(options.count("samples", 300));
    }
    if (mode == "park") return park(options);
    if (mode == "hold") return hold(options);
    if (mode == "times") {
        return print_lease_times(options.ports().front(), options.text("queue", "bench"),
                                 Seconds(options.number("skip", 0)),
                                 Seconds(options.number("seconds", 0)), options.number("rate", 0),
                                 options.number("burst", 0));
    }
    if (mode == "quotas") {
        return add_quotas(options.ports().front(), options.servers(), options.count("tenants", 1),
                          options.count("connections", 1), options.text("bounds", ""));
    }
    if (mode == "put") return run_beanstalk(options, true);
    if (mode == "reserve") return run_beanstalk(options, false);
    if (mode == "fsync") {
        return measure_disk(options.text("folder", "."), Seconds(options.number("seconds", 1)));
    }
    if (mode == "ready") return wait_until_ready(options);
    if (mode == "port") return print_free_port();
    die(usage);
}

}  // namespace
}  // namespace sluice::bench

int main(int count, char** words) {
    using namespace sluice::bench;
    if (count < 2) die(usage);
    run(words[1], Options(count, words));
    return 0;
}
