#include "e2e/postgres_server.hpp"

#include <gtest/gtest.h>
#include <signal.h>

#include <fstream>
#include <stdexcept>

#include "infrastructure/postgres/connection/connection.hpp"

namespace sluice::e2e {
namespace {

constexpr Millis start_patience(60'000);

std::vector<pid_t> children_of(pid_t parent) {
    const std::string pid = std::to_string(parent);
    std::ifstream file("/proc/" + pid + "/task/" + pid + "/children");
    std::vector<pid_t> children;
    for (pid_t child = 0; file >> child;) children.push_back(child);
    return children;
}

}  // namespace

PostgresServer::PostgresServer(Clock clock) {
    run("start", clock);
    std::string url;
    std::getline(std::ifstream(folder_.path() / "url"), url);
    const std::size_t colon = url.rfind(':');
    port_ = static_cast<std::uint16_t>(std::stoi(url.substr(colon + 1)));
}

PostgresServer::~PostgresServer() {
    thaw();
    try {
        run("stop");
    } catch (const std::runtime_error& error) {
        ADD_FAILURE() << error.what();
    }
}

std::string PostgresServer::url_through(const std::vector<std::uint16_t>& ports) {
    std::string places;
    for (const std::uint16_t port : ports) {
        places += (places.empty() ? "127.0.0.1:" : ",127.0.0.1:") + std::to_string(port);
    }
    return "postgres://sluice@" + places + "/postgres";
}

void PostgresServer::run(const std::string& command, Clock clock) const {
    Process script({"/usr/bin/env",
                    clock == Clock::own ? "SLUICE_POSTGRES_CLOCK=own" : "SLUICE_POSTGRES_CLOCK=",
                    SLUICE_SOURCE_DIR "/tests/postgres.sh", command, folder_.path().string()});
    if (script.wait(start_patience) != 0) {
        throw std::runtime_error("postgres.sh " + command + ": " + script.errors());
    }
}

// The file is never half written.
void PostgresServer::set_clock(std::chrono::seconds off) const {
    const std::filesystem::path file = folder_.path() / "home" / "clock";
    const std::filesystem::path next = file.string() + ".next";
    std::ofstream(next) << (off.count() < 0 ? "" : "+") << off.count() << "\n";
    std::filesystem::rename(next, file);
}

// The first process first, so that it makes no new ones.
void PostgresServer::freeze() {
    std::ifstream file(folder_.path() / "data" / "postmaster.pid");
    pid_t first = 0;
    if (!(file >> first)) throw std::runtime_error("there is no server to freeze");
    kill(first, SIGSTOP);
    frozen_ = children_of(first);
    for (const pid_t child : frozen_) kill(child, SIGSTOP);
    frozen_.push_back(first);
}

void PostgresServer::thaw() {
    for (const pid_t process : frozen_) kill(process, SIGCONT);
    frozen_.clear();
}

void PostgresServer::execute(const std::string& text) const {
    postgres::Connection({.url = url(), .application_name = "test"}).execute(text);
}

std::int64_t PostgresServer::ask(const std::string& text) const {
    postgres::Connection connection({.url = url(), .application_name = "test"});
    const postgres::Result answer = connection.ask({"", text});
    connection.sync();
    return postgres::Row(answer, 0).integer();
}

}  // namespace sluice::e2e
