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

#include "application/duties.hpp"
#include "domain/json_text.hpp"
#include "infrastructure/log.hpp"
#include "infrastructure/metrics.hpp"
#include "infrastructure/random_secret.hpp"
#include "infrastructure/reader_pool.hpp"
#include "infrastructure/system_clock.hpp"
#include "interfaces/http/deploy/agent_calls.hpp"
#include "interfaces/http/front_door.hpp"
#include "interfaces/http/routes.hpp"
#include "interfaces/http/server.hpp"
#include "interfaces/worker/command_environment.hpp"
#include "interfaces/worker/find_program.hpp"
#include "main/config_values.hpp"
#include "main/engine_room.hpp"
#include "main/engine_runner.hpp"
#include "main/notify.hpp"
#include "main/open_store.hpp"
#include "main/serve_access.hpp"
#include "sluice/client.hpp"

namespace sluice {
namespace {

constexpr int reader_threads = 2;
constexpr std::chrono::seconds stop_patience{10};
constexpr std::chrono::seconds io_tick{1};

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

std::string error_field(const std::string& error) {
    std::string field = R"("error":)";
    append_json_string(field, error);
    return field;
}

void warn_of_certificate(const http::Server& server) {
    const auto complaint = server.tls_identity()->complaint(std::chrono::system_clock::now());
    if (complaint) log::warn("clients will not trust the certificate", error_field(*complaint));
}

void reload_certificate(http::Server& server) {
    try {
        server.reload_tls();
        log::info("certificate and key were read again");
        warn_of_certificate(server);
    } catch (const std::runtime_error& error) {
        log::error("certificate and key were not read again; the old ones stay in use",
                   error_field(error.what()));
    }
}

// Certificates and keys live shorter than an engine. Who renews them sends SIGHUP.
void reload_on_signal(http::Server& server, const Config& config, CjoseJwtVerifier* jwts,
                      const ServiceManager& manager) {
    server.on_each_signal(SIGHUP, [&server, &config, jwts, &manager] {
        manager.reloading();
        if (config.server.tls.is_given()) reload_certificate(server);
        if (jwts != nullptr) jwts->reload();
        manager.ready("serving");
    });
}

// Tells on the I/O thread, which is where things would be stuck.
void keep_telling(http::Server& server, const ServiceManager& manager) {
    const auto period = manager.alive_every();
    if (!period) return;
    server.every(std::max(std::chrono::duration_cast<std::chrono::milliseconds>(*period),
                          std::chrono::milliseconds(1)),
                 [&manager] { manager.alive(); });
}

// What the I/O thread does unasked, at each tick. None of it waits.
struct IoDuty {
    DutyName name;
    std::function<void()> run;
};

std::vector<IoDuty> io_duties(http::JobFeed& feed, EngineRoom& room, http::Access& access,
                              http::LeaseSeal& seal) {
    std::vector<IoDuty> duties{
        {duty::streams, [&] { feed.tick(); }},
        {duty::stuck, [&] { room.answer_stuck(); }},
        {duty::access, [&] { access.refresh(); }},
        {duty::seal, [&] { seal_leases(room.commands(), seal); }},
    };
    if (room.is_shared()) duties.push_back({duty::elsewhere, [&] { feed.any_changed(); }});
    return duties;
}

void run_engine(const Config& config, bool welcome, const ServiceManager& manager) {
    Metrics metrics(SLUICE_VERSION);
    if (is_postgres(config.store)) await_database(config);
    const bool is_new = !store_exists(config);
    http::JobFeed feed;
    http::App* app_on_air = nullptr;  // set before the server runs
    const http::ServerOptions options = server_options(config);
    http::Server server(
        options,
        [&](http::Request& request, http::Reply reply) {
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
    warn_without_tokens(config, room.store());
    const auto jwts = open_jwts(config);
    http::Access access(access_settings(config), readers, room.clock(), jwts.get());
    http::Turnstile turnstile(config.caller_limits);
    http::LeaseSeal seal;
    http::deploy::AgentCalls agents(on_io_thread);
    if (!config.no_auth) seal.await_key();
    http::App app{.commands = room.commands(),
                  .queries = readers,
                  .clock = room.clock(),
                  .feed = feed,
                  .rules = room.rules(),
                  .access = access,
                  .turnstile = turnstile,
                  .seal = seal,
                  .metrics_text =
                      [&](const Depths& depths) {
                          const http::AnswerFigures answers = server.answers();
                          metrics.answering({answers.bytes, answers.cut, answers.refused});
                          return metrics.text(depths);
                      },
                  .new_secret = random_secret,
                  .on_denied = log_denial,
                  .default_lease = config.default_lease,
                  .max_lease = config.max_lease,
                  .deploy = config.deploy,
                  .agents = &agents};
    app_on_air = &app;

    std::optional<EngineRunner> runner;
    if (runs_jobs(config)) {
        runner.emplace(config, room.commands(), readers, room.clock(), on_io_thread);
    }
    const auto stop_serving = [&] {
        seal.miss_key();
        room.stop_waiting();
        server.stop(stop_patience);
    };
    const std::vector<IoDuty> duties = io_duties(feed, room, access, seal);
    server.every(io_tick, [&] {
        for (const IoDuty& duty : duties) {
            duty.run();
            metrics.ran({.duty = duty.name.name, .at = room.clock().now()});
        }
    });
    server.on_signals({SIGTERM, SIGINT}, [&](int signal) {
        log::info("stopping", fmt::format(R"("signal":{})", signal));
        manager.stopping();
        app.stopping = true;
        if (!runner) return stop_serving();
        runner->stop();  // its jobs report through the engine, which therefore stops after it
    });
    if (auto owed = owed_reports(room, config); !owed.empty()) {
        server.post(
            [&, owed = std::move(owed)] { room.commands().post<Report>(owed, [](auto) {}); });
    }
    if (runner) runner->start([&] { server.post(stop_serving); });

    // A terminal that closes ends what was started in it.
    if (!welcome) reload_on_signal(server, config, jwts.get(), manager);
    server.post([&] { seal_leases(room.commands(), seal); });
    const std::string address = url_text(config.server, config.server.host, server.port());
    log::info("serving", start_fields(address, config, is_new));
    if (config.server.tls.is_given()) warn_of_certificate(server);
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
