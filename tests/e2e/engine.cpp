#include "e2e/engine.hpp"

#include <gtest/gtest.h>
#include <signal.h>

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <map>
#include <stdexcept>

#include "e2e/json.hpp"
#include "support/postgres.hpp"

namespace sluice::e2e {
namespace {

std::vector<std::string> serve_command(const std::string& store,
                                       const std::vector<std::string>& more) {
    std::vector<std::string> words{"serve", "--listen", "127.0.0.1:0", "--store", store};
    words.insert(words.end(), more.begin(), more.end());
    return sluice_command(std::move(words));
}

std::vector<std::string> without_auth(std::vector<std::string> flags) {
    flags.emplace_back("--no-auth");
    return flags;
}

std::vector<std::string> in_environment(std::vector<std::string> command,
                                        const std::vector<std::string>& environment) {
    command.insert(command.begin(), environment.begin(), environment.end());
    command.insert(command.begin(), "/usr/bin/env");
    return command;
}

std::string shared_store(const std::string& kind, const TempFolder& folder) {
    if (kind == "memory" && !on_postgres()) return "memory:";
    return "sqlite:" + (folder.path() / "db").string();
}

struct Shared {
    TempFolder folder;
    std::string store;
    std::unique_ptr<Engine> engine;
};

std::map<std::string, Shared>& shared_engines() {
    static std::map<std::string, Shared> engines;
    return engines;
}

// After all tests: the shared engines stop cleanly, and their stores verify.
class LastLook : public testing::Environment {
  public:
    void TearDown() override {
        for (auto& [kind, shared] : shared_engines()) {
            if (!shared.engine) continue;
            EXPECT_EQ(shared.engine->stop(), 0) << kind << shared.engine->process().errors();
            if (shared.store == "memory:") continue;
            const Ended verified = run_sluice({"audit", "verify", "--store", shared.store});
            EXPECT_EQ(verified.code, 0) << verified.errors;
        }
        shared_engines().clear();
    }
};
const auto* const last_look = testing::AddGlobalTestEnvironment(new LastLook);

}  // namespace

bool on_postgres() {
    const char* store = std::getenv("SLUICE_E2E_STORE");
    return store != nullptr && store == std::string_view("postgres");
}

std::string store_in_use(const std::string& url) {
    if (!on_postgres()) return url;
    if (url == "memory:") return migrated_database();
    if (!url.starts_with("sqlite:") || url == "sqlite:") return url;
    static std::map<std::string, std::string> databases;
    std::string& database = databases[url];
    if (database.empty()) database = migrated_database();
    return database;
}

std::vector<std::string> sluice_command(std::vector<std::string> arguments) {
    const auto option = std::find(arguments.begin(), arguments.end(), "--store");
    if (arguments.end() - option > 1) option[1] = store_in_use(option[1]);
    const char* const other = std::getenv("SLUICE_TEST_BINARY");
    arguments.insert(arguments.begin(), other != nullptr ? other : SLUICE_BINARY);
    return arguments;
}

Ended run_sluice(const std::vector<std::string>& arguments, Millis patience) {
    Process process(sluice_command(arguments));
    const auto code = process.wait(patience);
    return {code.value_or(-1), process.output(), process.errors()};
}

Engine::Engine(const std::string& store, const std::vector<std::string>& more)
    : process_(serve_command(store, without_auth(more))) {
    read_port();
}

Engine::Engine(Guarded, const std::string& store, const std::vector<std::string>& more,
               const std::vector<std::string>& environment)
    : process_(in_environment(serve_command(store, more), environment)) {
    read_port();
}

void Engine::read_port() {
    std::string address;
    while (address.empty()) {  // warnings may come first
        const auto line = process_.read_line(Millis(20'000));
        if (!line) {
            process_.wait(Millis(1000));
            throw std::runtime_error("the engine does not come up: " + process_.errors());
        }
        const Json record = parse(*line);
        if (text(record, "message") == "serving") address = text(record, "address");
    }
    port_ = static_cast<std::uint16_t>(std::stoi(address.substr(address.rfind(':') + 1)));
}

int Engine::stop(Millis patience) {
    process_.send_signal(SIGTERM);
    return process_.wait(patience).value_or(-1);
}

void Engine::kill() {
    process_.send_signal(SIGKILL);
    if (!process_.wait(Millis(10'000))) throw std::runtime_error("the engine survives SIGKILL");
}

std::int64_t Engine::resident_kilobytes() const {
    return memory_figure("VmRSS:");
}

std::int64_t Engine::most_resident_kilobytes() const {
    return memory_figure("VmHWM:");
}

std::int64_t Engine::memory_figure(std::string_view name) const {
    std::ifstream status("/proc/" + std::to_string(process_.pid()) + "/status");
    for (std::string line; std::getline(status, line);) {
        if (line.starts_with(name)) return std::stoll(line.substr(name.size()));
    }
    throw std::runtime_error("the engine is gone");
}

Engine& shared_engine(const std::string& kind) {
    Shared& shared = shared_engines()[kind];
    if (shared.engine && !shared.engine->is_running()) {
        ADD_FAILURE() << "the shared engine died: " << shared.engine->process().errors();
        shared.engine.reset();
    }
    if (!shared.engine) {
        shared.store = shared_store(kind, shared.folder);
        shared.engine = std::make_unique<Engine>(shared.store);
    }
    return *shared.engine;
}

}  // namespace sluice::e2e
