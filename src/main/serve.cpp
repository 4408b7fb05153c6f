// The composition root of the engine: the only file that picks a store and connects all parts.
//
// The part that is declared first is destroyed last. On a signal the I/O thread lets waiting claims
// go with nothing, stops accepting, and answers what is in work; then run() returns, the committer
// writes what is left and stops, and the store closes. Jobs that run in this process finish before
// that, within their time of grace.
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

#include "application/engine/duties.hpp"
#include "config/values.hpp"
#include "infrastructure/commit/reader_pool.hpp"
#include "infrastructure/system/limit_metrics.hpp"
#include "infrastructure/system/log.hpp"
#include "infrastructure/system/metrics.hpp"
#include "infrastructure/system/random_secret.hpp"
#include "infrastructure/system/system_clock.hpp"
#include "interfaces/http/deploy/agent_calls.hpp"
#include "interfaces/http/deploy/plane.hpp"
#include "interfaces/http/dispatch/front_door.hpp"
#include "interfaces/http/dispatch/routes.hpp"
#include "interfaces/http/server/server.hpp"
#include "interfaces/worker/executors/find_program.hpp"
#include "interfaces/worker/leash/command_environment.hpp"
#include "main/engine_core.hpp"
#include "main/engine_runner.hpp"
#include "main/notify.hpp"
#include "operator/open_store.hpp"
#include "operator/serve_access.hpp"
#include "sluice/client.hpp"

namespace sluice {
namespace {

constexpr int reader_threads = 2;
constexpr std::chrono::seconds stop_patience{10};
constexpr std::chrono::seconds io_tick{1};

// A web page must not reach the engine through a host name that its owner points at this machine.
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
    return fmt::format(R"({},{},"new_store":{})", log::field("address", address),
                       log::field("store", shown_store(config.store)), is_new_store);
}

// The name by which this program was started, for commands to paste.
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
               "  Ctrl-C stops it; {}.\n\n",
               SLUICE_VERSION, address, shown_store(config.store), executed_types(config),
               program_name(), flag, program_name(), flag, program_name(), flag,
               config.store == "memory:" ? "memory: keeps nothing" : "nothing is lost");
}

void observe(Metrics& metrics, const http::RequestRecord& record) {
    const std::string_view route = record.route != nullptr ? record.route->pattern : "other";
    metrics.answered(http::to_text(record.verb), route, record.status, record.took);
}

// The answer of /metrics.
auto metrics_text(Metrics& metrics, http::Server& server, Clock& clock) {
    return [&, of_limits = LimitMetrics()](const Depths& depths, const LimitsNow& limits) mutable {
        const http::AnswerFigures answers = server.answers();
        metrics.answering({answers.bytes, answers.cut, answers.refused});
        return metrics.text(depths) + of_limits.text(limits, clock.now());
    };
}

// Hands the answers of a committed batch to the I/O thread.
auto delivery(http::Server& server, http::JobFeed& feed) {
    return [&](std::shared_ptr<Batch> answers, std::vector<JobId> touched) {
        server.post([answers = std::move(answers), touched = std::move(touched), &feed] {
            answers->deliver();
            feed.changed(touched);
        });
    };
}

// Each connection takes a file descriptor, and the usual limit is below ours.
void allow_many_connections() {
    rlimit limit{};
    if (getrlimit(RLIMIT_NOFILE, &limit) != 0) return;
    limit.rlim_cur = limit.rlim_max;
    setrlimit(RLIMIT_NOFILE, &limit);
}

// Reports the jobs that an earlier process of this engine had. On a shared store it is not known
// that the process which went by this engine's name is gone; there the leases tell.
void report_for_the_dead(http::Server& server, EngineCore& core, const Config& config) {
    if (core.is_shared()) return;
    auto owed = reports_for_the_dead(*core.store().reader(), config);
    if (owed.empty()) return;
    server.post(
        [&core, owed = std::move(owed)] { core.commands().post<Report>(owed, [](auto) {}); });
}

void warn_of_certificate(const http::Server& server) {
    const auto complaint = server.tls_identity()->complaint(std::chrono::system_clock::now());
    if (complaint)
        log::warn("clients will not trust the certificate", log::field("error", *complaint));
}

void reload_certificate(http::Server& server) {
    try {
        server.reload_tls();
        log::info("certificate and key were read again");
        warn_of_certificate(server);
    } catch (const std::runtime_error& error) {
        log::error("certificate and key were not read again; the old ones stay in use",
                   log::field("error", error.what()));
    }
}

// Certificates and keys live shorter than an engine. The program that renews them sends SIGHUP.
void reload_on_signal(http::Server& server, const Config& config, CjoseJwtVerifier* jwts,
                      const ServiceManager& manager) {
    server.on_each_signal(SIGHUP, [&server, &config, jwts, &manager] {
        manager.reloading();
        if (config.server.tls.is_given()) reload_certificate(server);
        if (jwts != nullptr) jwts->reload();
        manager.ready("serving");
    });
}

void stop_on_signal(http::Server& server, const ServiceManager& manager,
                    std::function<void()> stop) {
    server.on_signals({SIGTERM, SIGINT}, [&manager, stop = std::move(stop)](int signal) {
        log::info("stopping", fmt::format(R"("signal":{})", signal));
        manager.stopping();
        stop();
    });
}

// Returns the address that is served.
std::string log_start(const http::Server& server, const Config& config, bool is_new_store) {
    std::string address = url_text(config.server, config.server.host, server.port());
    log::info("serving", start_fields(address, config, is_new_store));
    if (config.server.tls.is_given()) warn_of_certificate(server);
    return address;
}

// Tells the manager from the I/O thread, so that a stuck I/O thread is noticed.
void keep_telling(http::Server& server, const ServiceManager& manager) {
    const auto period = manager.alive_every();
    if (!period) return;
    server.every(std::max(std::chrono::duration_cast<std::chrono::milliseconds>(*period),
                          std::chrono::milliseconds(1)),
                 [&manager] { manager.alive(); });
}

// A task of the I/O thread at each tick. It does not wait.
struct IoDuty {
    DutyName name;
    std::function<void()> run;
};

std::vector<IoDuty> io_duties(http::JobFeed& feed, EngineCore& core, http::Access& access,
                              http::LeaseSeal& seal) {
    std::vector<IoDuty> duties{
        {duty::streams, [&] { feed.tick(); }},
        {duty::stuck, [&] { core.answer_stuck(); }},
        {duty::access, [&] { access.refresh(); }},
        {duty::seal, [&] { seal_leases(core.commands(), seal); }},
    };
    if (core.is_shared()) duties.push_back({duty::elsewhere, [&] { feed.any_changed(); }});
    return duties;
}

void keep_running(http::Server& server, std::vector<IoDuty> duties, Metrics& metrics,
                  Clock& clock) {
    server.every(io_tick, [duties = std::move(duties), &metrics, &clock] {
        for (const IoDuty& duty : duties) {
            duty.run();
            metrics.ran({.duty = duty.name.name, .at = clock.now()});
        }
    });
}

void run_engine(const Config& config, bool welcome, const ServiceManager& manager) {
    Metrics metrics(SLUICE_VERSION);
    if (is_postgres(config.store)) await_database(config);
    const bool is_new = !store_exists(config);
    http::JobFeed feed;
    http::App* app_on_air = nullptr;  // set before the server runs
    const http::ServerOptions options = server_options(config);
    const http::Router router(http::contracts());
    http::Server server(
        options,
        [&](http::Request& request, http::Reply reply) {
            dispatch(router, request, *app_on_air, std::move(reply));
        },
        [&](http::Request& request) { return on_head(router, request, options.limits.body_bytes); },
        [&](const http::RequestRecord& record) { observe(metrics, record); });
    const auto on_io_thread = [&](std::function<void()> task) { server.post(std::move(task)); };
    EngineCore core(config, metrics, delivery(server, feed));
    ReaderPool readers(core.store(), reader_threads, on_io_thread);
    warn_without_tokens(config, core.store());
    const auto jwts = open_jwts(config);
    http::Access access(access_settings(config), readers, core.clock(), jwts.get());
    http::CallerLimiter limiter(config.caller_limits);
    http::LeaseSeal seal;
    http::deploy::AgentCalls agents(on_io_thread);
    http::deploy::Plane deploy_plane{config.deploy, &agents};
    if (!config.no_auth) seal.await_key();
    http::App app{.commands = core.commands(),
                  .queries = readers,
                  .clock = core.clock(),
                  .feed = feed,
                  .rules = core.rules(),
                  .rules_now = core.rules_now(),
                  .access = access,
                  .limiter = limiter,
                  .seal = seal,
                  .metrics_text = metrics_text(metrics, server, core.clock()),
                  .new_secret = random_secret,
                  .on_denied = log_denial,
                  .default_lease = config.default_lease,
                  .max_lease = config.max_lease};
    app.parts.put(deploy_plane);
    app_on_air = &app;

    std::optional<EngineRunner> runner;
    if (runs_jobs(config)) {
        runner.emplace(config, core.commands(), readers, core.clock(), on_io_thread);
    }
    const auto stop_serving = [&] {
        seal.miss_key();
        core.stop_waiting();
        server.stop(stop_patience);
    };
    keep_running(server, io_duties(feed, core, access, seal), metrics, core.clock());
    stop_on_signal(server, manager, [&] {
        app.stopping = true;
        if (!runner) return stop_serving();
        runner->stop();  // its jobs report through the engine, which therefore stops after it
    });
    report_for_the_dead(server, core, config);
    if (runner) runner->start([&] { server.post(stop_serving); });

    // A terminal that closes ends what was started in it.
    if (!welcome) reload_on_signal(server, config, jwts.get(), manager);
    server.post([&] { seal_leases(core.commands(), seal); });
    const std::string address = log_start(server, config, is_new);
    if (welcome) print_welcome(address, config);
    keep_telling(server, manager);
    manager.ready("serving " + address);
    server.run();
    if (runner) runner->check();
}

}  // namespace

int serve(const Config& config, bool welcome) {
    check_access(config);
    open_log(config);
    allow_many_connections();
    worker::hide_from_commands();
    run_engine(config, welcome, ServiceManager::from_environment());
    log::info("stopped");
    return 0;
}

}  // namespace sluice
