#include "e2e/engine.hpp"

#include <gtest/gtest.h>
#include <signal.h>

#include <fstream>
#include <map>
#include <stdexcept>

#include "e2e/json.hpp"

namespace sluice::e2e {
namespace {

std::vector<std::string> serve_command(const std::string& store,
                                       const std::vector<std::string>& more) {
    std::vector<std::string> command{SLUICE_BINARY, "serve",   "--no-auth", "--listen",
                                     "127.0.0.1:0", "--store", store};
    command.insert(command.end(), more.begin(), more.end());
    return command;
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
            if (kind != "sqlite") continue;
            const Ended verified = run_sluice({"audit", "verify", "--store", shared.store});
            EXPECT_EQ(verified.code, 0) << verified.errors;
        }
        shared_engines().clear();
    }
};
const auto* const last_look = testing::AddGlobalTestEnvironment(new LastLook);

}  // namespace

Ended run_sluice(const std::vector<std::string>& arguments, Millis patience) {
    std::vector<std::string> command{SLUICE_BINARY};
    command.insert(command.end(), arguments.begin(), arguments.end());
    Process process(std::move(command));
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
        shared.store =
            kind == "memory" ? "memory:" : "sqlite:" + (shared.folder.path() / "db").string();
        shared.engine = std::make_unique<Engine>(shared.store);
    }
    return *shared.engine;
}

}  // namespace sluice::e2e
