// The composition root of the engine: the one place that picks a store and wires everything
// together.
//
// What is declared first is destroyed last. On a signal the I/O thread lets waiting claims go with
// nothing, stops accepting, and answers what is in work; then run() returns, the committer writes
// what is left and stops, and the store closes.
#include "main/serve.hpp"

#include <fmt/format.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <random>
#include <stdexcept>

#include "application/engine.hpp"
#include "domain/json_text.hpp"
#include "infrastructure/committer.hpp"
#include "infrastructure/log.hpp"
#include "infrastructure/metrics.hpp"
#include "infrastructure/reader_pool.hpp"
#include "infrastructure/system_clock.hpp"
#include "interfaces/http/routes.hpp"
#include "interfaces/http/server.hpp"
#include "main/open_store.hpp"

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

std::string start_fields(const std::string& address, const Config& config) {
    std::string fields = R"("address":)";
    append_json_string(fields, address);
    fields += R"(,"store":)";
    append_json_string(fields, config.store);
    return fields;
}

void print_welcome(const std::string& address, const Config& config) {
    fmt::print(stderr,
               "\n"
               "  Sluice {} is serving.\n"
               "\n"
               "  API      {}\n"
               "  Store    {}\n"
               "  Access   everybody on this machine, without a token\n"
               "\n"
               "  Try next, in another terminal:\n"
               "\n"
               "    curl -s {}/api/v1/jobs -H 'Content-Type: application/json' \\\n"
               "         -d '{{\"type\":\"greet\",\"payload\":{{\"name\":\"Ada\"}}}}'\n"
               "    curl -s {}/api/v1/leases -H 'Content-Type: application/json' \\\n"
               "         -d '{{\"worker_id\":\"me\"}}'\n"
               "    curl -s {}/api/v1/jobs\n"
               "\n"
               "  docs/http-api.md shows the rest. Ctrl-C stops it; nothing is lost.\n\n",
               SLUICE_VERSION, address, config.store, address, address, address);
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

void run_engine(const Config& config, bool welcome) {
    SystemClock clock;
    Metrics metrics(SLUICE_VERSION);
    const std::unique_ptr<Store> store = open_store(config.store, clock.now());
    Engine engine(*store, {.node = config.node,
                           .seed = std::random_device()(),
                           .idempotency_memory = config.idempotency_memory});

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
    Committer committer(engine, clock, metrics, deliver);
    ReaderPool readers(*store, reader_threads, on_io_thread);
    http::App app{.commands = committer,
                  .queries = readers,
                  .clock = clock,
                  .feed = feed,
                  .types = config.job_types,
                  .metrics_text = [&](const Depths& depths) { return metrics.text(depths); },
                  .default_lease = config.default_lease,
                  .max_lease = config.max_lease};
    app_on_air = &app;

    server.every(feed_tick, [&] { feed.tick(); });
    server.on_signals({SIGTERM, SIGINT}, [&](int signal) {
        log::info("stopping", fmt::format(R"("signal":{})", signal));
        app.stopping = true;
        committer.stop_waiting();
        server.stop(stop_patience);
    });

    const std::string host = config.server.host.find(':') == std::string::npos
                                 ? config.server.host
                                 : fmt::format("[{}]", config.server.host);
    const std::string address = fmt::format("http://{}:{}", host, server.port());
    log::info("serving", start_fields(address, config));
    if (welcome) print_welcome(address, config);
    server.run();
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
