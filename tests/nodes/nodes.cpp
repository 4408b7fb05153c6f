#include "nodes/nodes.hpp"

#include <gtest/gtest.h>
#include <signal.h>

#include <fstream>

#include "e2e/postgres_server.hpp"

namespace sluice::nodes {
namespace {

// The library that gives a program another clock when it is preloaded. A missing library would be
// ignored silently.
std::string faketime() {
    for (const auto& folder : std::filesystem::directory_iterator("/usr/lib")) {
        const auto library = folder.path() / "faketime" / "libfaketimeMT.so.1";
        if (std::filesystem::exists(library)) return library.string();
    }
    throw std::runtime_error("faketime is missing; ./dev setup installs it");
}

// A gadget whose job waits for its retry is taken over by the next job about it.
constexpr const char* configuration = R"([entities.gadget]
initial = "idle"
implicit = true
transitions = [
  {action = "start", from = ["idle", "busy"], to = "busy"},
  {action = "done", from = ["busy"], to = "idle"},
  {action = "undone", from = ["busy"], to = "idle"},
]
follows = [{job_type = "tend", on_start = "start", on_success = "done", on_failure = "undone"}]
)";

std::size_t place(int node) {
    return static_cast<std::size_t>(node);
}

void write(const std::filesystem::path& path, const std::string& text) {
    std::ofstream file(path);
    file << text;
    file.close();
    if (!file) throw std::runtime_error("cannot write " + path.string());
}

}  // namespace

Nodes::Nodes(std::string store, int count, const Wiring& wiring)
    : store_(std::move(store)), wiring_(wiring) {
    write(folder_.path() / "sluice.toml", configuration);
    database_networks_.resize(place(count));
    engines_.resize(place(count));
    client_networks_.resize(place(count));
    ports_.resize(place(count));
    for (int node = 0; node < count; ++node) {
        if (wiring_.own_clocks) set_clock(node, std::chrono::seconds(0));
        if (wiring_.database_port != 0) {
            database_networks_[place(node)] =
                std::make_unique<e2e::FaultProxy>(wiring_.database_port);
        }
        start(node);
    }
}

void Nodes::start(int node) {
    const auto* database = database_networks_[place(node)].get();
    const std::string store =
        database == nullptr ? store_ : e2e::PostgresServer::url_through({database->port()});
    const std::vector<std::string> flags{"--no-auth", "--config",
                                         (folder_.path() / "sluice.toml").string()};
    auto& engine = engines_[place(node)];
    engine = std::make_unique<e2e::Engine>(e2e::Engine::Guarded{}, store, flags, environment(node));
    std::uint16_t port = engine->port();
    if (wiring_.client_proxies) {
        auto& network = client_networks_[place(node)];
        network = std::make_unique<e2e::FaultProxy>(port);
        port = network->port();
    }
    ports_[place(node)] = port;
}

// Only the wall clock is a node's own: the file says how far off it is, and is read at every call.
std::vector<std::string> Nodes::environment(int node) const {
    if (!wiring_.own_clocks) return {};
    return {"LD_PRELOAD=" + faketime(), "FAKETIME_DONT_FAKE_MONOTONIC=1", "FAKETIME_NO_CACHE=1",
            "FAKETIME_TIMESTAMP_FILE=" + clock_file(node).string()};
}

std::filesystem::path Nodes::clock_file(int node) const {
    return folder_.path() / ("clock-" + std::to_string(node));
}

// The file is never half written.
void Nodes::set_clock(int node, std::chrono::seconds off) {
    const std::filesystem::path next = clock_file(node).string() + ".next";
    write(next, (off.count() < 0 ? "" : "+") + std::to_string(off.count()) + "\n");
    std::filesystem::rename(next, clock_file(node));
}

void Nodes::start_later(std::chrono::hours later, const std::string& more_configuration) {
    write(folder_.path() / "sluice.toml", more_configuration + configuration);
    wiring_.own_clocks = wiring_.own_clocks || later.count() > 0;
    for (int node = 0; node < count(); ++node) {
        if (is_up(node)) continue;
        if (wiring_.own_clocks) set_clock(node, later);
        start(node);
    }
}

e2e::FaultProxy* Nodes::client_network(int node) {
    return is_up(node) ? client_networks_[place(node)].get() : nullptr;
}

e2e::FaultProxy* Nodes::database_network(int node) {
    return is_up(node) ? database_networks_[place(node)].get() : nullptr;
}

void Nodes::kill(int node) {
    engines_[place(node)]->kill();
    ports_[place(node)] = 0;
}

int Nodes::stop(int node) {
    const int code = engines_[place(node)]->stop();
    ports_[place(node)] = 0;
    return code;
}

void Nodes::freeze(int node) {
    engines_[place(node)]->process().send_signal(SIGSTOP);
}

void Nodes::thaw(int node) {
    engines_[place(node)]->process().send_signal(SIGCONT);
}

void Nodes::look_after() {
    for (int node = 0; node < count(); ++node) {
        if (!is_up(node) || engines_[place(node)]->is_running()) continue;
        ports_[place(node)] = 0;
        ADD_FAILURE() << "node " << node << " died: " << engines_[place(node)]->process().errors();
    }
}

}  // namespace sluice::nodes
