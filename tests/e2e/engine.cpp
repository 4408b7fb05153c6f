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
    std::vector<std::string> words{"serve",       "--no-auth", "--listen",
                                   "127.0.0.1:0", "--store",   store};
    words.insert(words.end(), more.begin(), more.end());
    return sluice_command(std::move(words));
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

// After all tests: the shared engines stop cleanly, and what they leave behind verifies.
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
    arguments.insert(arguments.begin(), SLUICE_BINARY);
    return arguments;
}

Ended run_sluice(const std::vector<std::string>& arguments, Millis patience) {
    Process process(sluice_command(arguments));
    const auto code = process.wait(patience);
    return {code.value_or(-1), process.output(), process.errors()};
}

Engine::Engine(const std::string& store, const std::vector<std::string>& more)
    : process_(serve_command(store, more)) {
    const auto line = process_.read_line(Millis(20'000));
    if (!line) {
        process_.wait(Millis(1000));
        throw std::runtime_error("the engine does not come up: " + process_.errors());
    }
    const std::string address = text(parse(*line), "address");
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
    std::ifstream status("/proc/" + std::to_string(process_.pid()) + "/status");
    for (std::string line; std::getline(status, line);) {
        if (line.starts_with("VmRSS:")) return std::stoll(line.substr(6));
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
