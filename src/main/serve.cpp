// The composition root of the engine: the one place that picks a store and wires everything
// together.
//
// What is declared first is destroyed last. On a signal the I/O thread lets waiting claims go with
// nothing, stops accepting, and answers what is in work; then run() returns, the committer writes
// what is left and stops, and the store closes. Jobs that run in this process finish before that,
// within their time of grace.
#include "main/serve.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <filesystem>
#include <optional>
#include <stdexcept>

#include "domain/json_text.hpp"
#include "infrastructure/log.hpp"
#include "infrastructure/metrics.hpp"
#include "infrastructure/reader_pool.hpp"
#include "interfaces/http/routes.hpp"
#include "interfaces/http/server.hpp"
#include "interfaces/worker/find_program.hpp"
#include "main/config_values.hpp"
#include "main/engine_room.hpp"
#include "main/engine_runner.hpp"
#include "main/open_store.hpp"
#include "sluice/client.hpp"

namespace sluice {
namespace {

constexpr int reader_threads = 2;
constexpr std::chrono::seconds stop_patience{10};
constexpr std::chrono::seconds feed_tick{1};

bool is_loopback(const std::string& host) {
    return host == "localhost" || host == "::1" || host == "[::1]" || host.starts_with("127.");
}

// Without tokens everybody who can connect may do everything, so that only this machine may
// connect.
void check_access(const Config& config) {
    if (!config.no_auth) {
        throw std::runtime_error(
            "this version has no access tokens yet: start it with --no-auth, on a loopback "
            "address");
    }
    if (!is_loopback(config.server.host)) {
        throw std::runtime_error(fmt::format(
            "--no-auth is accepted on loopback only, and {} is not: listen on 127.0.0.1",
            config.server.host));
    }
}

// A web page must not reach the engine through a name that it made point here.
http::ServerOptions server_options(const Config& config) {
    http::ServerOptions options = config.server;
    if (config.no_auth && options.allowed_hosts.empty()) {
        options.allowed_hosts = {"localhost", "127.0.0.1", "::1"};
        if (options.host != "localhost") options.allowed_hosts.push_back(options.host);
    }
    return options;
}

void open_log(const Config& config) {
    const bool as_json = config.log_format == LogFormat::json ||
                         (config.log_format == LogFormat::automatic && isatty(STDOUT_FILENO) == 0);
    log::open(config.log_level, as_json);
}

std::string start_fields(const std::string& address, const Config& config, bool is_new_store) {
    std::string fields = R"("address":)";
    append_json_string(fields, address);
    fields += R"(,"store":)";
    append_json_string(fields, shown_store(config.store));
    fields += is_new_store ? R"(,"new_store":true)" : R"(,"new_store":false)";
    return fields;
}

// How this program was called, for commands to paste.
std::string program_name() {
    std::error_code unknown;
    const auto path = std::filesystem::read_symlink("/proc/self/exe", unknown);
    if (unknown || worker::find_program("sluice") == path) return "sluice";
    const auto near = std::filesystem::proximate(path, unknown);
    return near.string().size() < path.string().size() ? near.string() : path.string();
}

std::string executed_types(const Config& config) {
    std::vector<std::string> types;
    for (const auto& [type, executor] : config.executors) types.push_back(type);
    return fmt::format("{}", fmt::join(types, ", "));
}

// Commands to paste name the address only where the usual one would not do.
std::string server_flag(const std::string& address) {
    return address == client::default_server ? "" : " --server " + address;
}

void print_welcome(const std::string& address, const Config& config) {
    const std::string flag = server_flag(address);
    fmt::print(stderr,
               "\n"
               "  Sluice {} is serving.\n"
               "\n"
               "  API      {}\n"
               "  Store    {}\n"
               "  Access   everybody on this machine, without a token\n"
               "  Runs     {}\n"
               "\n"
               "  Try next, in another terminal:\n"
               "\n"
               "    {} run demo.hello --data '{{\"name\":\"Ada\"}}' --follow{}\n"
               "    {} run demo.flaky --follow{}\n"
               "    {} job list{}\n"
               "\n"
               "  Ctrl-C stops it; nothing is lost.\n\n",
               SLUICE_VERSION, address, shown_store(config.store), executed_types(config),
               program_name(), flag, program_name(), flag, program_name(), flag);
}

void observe(Metrics& metrics, const http::RequestRecord& record) {
    const std::string_view route = http::route_of(record.verb, record.path);
    metrics.answered(http::to_text(record.verb), route, record.status, record.took);
}

// Each connection takes a file descriptor, and the usual limit is below ours.
void allow_many_connections() {
    rlimit limit{};
    if (getrlimit(RLIMIT_NOFILE, &limit) != 0) return;
    limit.rlim_cur = limit.rlim_max;
    setrlimit(RLIMIT_NOFILE, &limit);
}

// On a shared store nobody knows that who went by this engine's name is gone; the leases tell.
std::vector<Report> owed_reports(EngineRoom& room, const Config& config) {
    if (room.is_shared()) return {};
    return reports_for_the_dead(*room.store().reader(), config);
}

void run_engine(const Config& config, bool welcome) {
    Metrics metrics(SLUICE_VERSION);
    if (is_postgres(config.store)) await_database(config.store);
    const bool is_new = !store_exists(config.store);
    http::JobFeed feed;
    http::App* app_on_air = nullptr;  // set before the server runs
    const http::ServerOptions options = server_options(config);
    http::Server server(
        options,
        [&](const http::Request& request, http::Reply reply) {
            dispatch(request, *app_on_air, std::move(reply));
        },
        [&](http::Verb verb, std::string_view path) {
            return http::body_limit(verb, path, options.limits.body_bytes);
        },
        [&](const http::RequestRecord& record) { observe(metrics, record); });

    const auto on_io_thread = [&](std::function<void()> task) { server.post(std::move(task)); };
    const auto deliver = [&](std::shared_ptr<Batch> answers, std::vector<JobId> touched) {
        server.post([answers = std::move(answers), touched = std::move(touched), &feed] {
            answers->deliver();
            feed.changed(touched);
        });
    };
    EngineRoom room(config, metrics, deliver);
    ReaderPool readers(room.store(), reader_threads, on_io_thread);
    http::App app{.commands = room.commands(),
                  .queries = readers,
                  .clock = room.clock(),
                  .feed = feed,
                  .rules = room.rules(),
                  .metrics_text = [&](const Depths& depths) { return metrics.text(depths); },
                  .default_lease = config.default_lease,
                  .max_lease = config.max_lease,
                  .admins = config.admins,
                  .deploy = config.deploy};
    app_on_air = &app;

    std::optional<EngineRunner> runner;
    if (runs_jobs(config)) {
        runner.emplace(config, room.commands(), readers, room.clock(), on_io_thread);
    }
    const auto stop_serving = [&] {
        room.stop_waiting();
        server.stop(stop_patience);
    };
    server.every(feed_tick, [&] {
        feed.tick();
        if (room.is_shared()) feed.any_changed();
    });
    server.on_signals({SIGTERM, SIGINT}, [&](int signal) {
        log::info("stopping", fmt::format(R"("signal":{})", signal));
        app.stopping = true;
        if (!runner) return stop_serving();
        runner->stop();  // its jobs report through the engine, which therefore stops after it
    });
    if (auto owed = owed_reports(room, config); !owed.empty()) {
        server.post(
            [&, owed = std::move(owed)] { room.commands().post<Report>(owed, [](auto) {}); });
    }
    if (runner) runner->start([&] { server.post(stop_serving); });

    const std::string address = "http://" + address_text(config.server.host, server.port());
    log::info("serving", start_fields(address, config, is_new));
    if (welcome) print_welcome(address, config);
    server.run();
    if (runner) runner->check();
}

}  // namespace

int serve(const Config& config, bool welcome) {
    check_access(config);
    open_log(config);
    allow_many_connections();
    run_engine(config, welcome);
    log::info("stopped");
    return 0;
}

}  // namespace sluice
