#include "chaos/episode.hpp"

#include <fmt/format.h>
#include <sqlite3.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <exception>
#include <fstream>
#include <thread>

#include "checker/checker.hpp"
#include "nodes/history_export.hpp"
#include "nodes/ledger_export.hpp"
#include "support/quick_folder.hpp"

namespace sluice::chaos {
namespace {

namespace fs = std::filesystem;
using e2e::Millis;
using Clock = std::chrono::steady_clock;

constexpr Millis recovery_max{5000};  // on a machine that is busy with other tests
constexpr Millis drain_patience{60'000};
constexpr const char* shim_counts = "counts";

// The environment of the children that are started while it lives.
class Environment {
  public:
    Environment(std::string name, const std::string& value) : name_(std::move(name)) {
        setenv(name_.c_str(), value.c_str(), 1);
    }
    ~Environment() { unsetenv(name_.c_str()); }
    Environment(const Environment&) = delete;
    Environment& operator=(const Environment&) = delete;

  private:
    std::string name_;
};

bool is_on_postgres(const std::string& store) {
    return store.starts_with("postgres:");
}

// As in the campaign of nodes: a database's clock is measured over a connection.
e2e::Fields plan_of(const Scene& scene) {
    const bool postgres = is_on_postgres(scene.store);
    return {{"seed", scene.seed},
            {"nodes", 1},
            {"slack_ms", postgres ? 1000 : 5},
            {"clocks_ms", postgres ? 200 : 5},
            {"starts_renew_leases", !postgres}};
}

std::string integrity_check(const std::string& path) {
    sqlite3* opened = nullptr;
    const int code = sqlite3_open_v2(path.c_str(), &opened, SQLITE_OPEN_READWRITE, nullptr);
    const std::unique_ptr<sqlite3, int (*)(sqlite3*)> database(opened, sqlite3_close);
    if (code != SQLITE_OK) return sqlite3_errmsg(opened);
    std::string answer;
    const auto add = [](void* into, int, char** values, char**) {
        static_cast<std::string*>(into)->append(values[0]);
        return 0;
    };
    if (sqlite3_exec(opened, "PRAGMA integrity_check", add, &answer, nullptr) != SQLITE_OK) {
        return sqlite3_errmsg(opened);
    }
    return answer;
}

void run_actor(Episode& episode, void (*act)(nodes::Stage&, int), int number) {
    try {
        act(episode.stage(), number);
    } catch (const std::exception& error) {
        episode.complain(std::string("an actor gave up: ") + error.what());
    }
}

}  // namespace

FastFolder::FastFolder() {
    std::string pattern = (quick_folder() / "sluice-chaos-XXXXXX").string();
    if (mkdtemp(pattern.data()) == nullptr) throw std::runtime_error("cannot make " + pattern);
    path_ = pattern;
}

FastFolder::~FastFolder() {
    std::error_code ignored;
    fs::remove_all(path_, ignored);
}

Episode::Episode(Scene scene, Tally& tally)
    : scene_(std::move(scene)), tally_(tally), record_(folder_.path() / "record.jsonl") {
    record_.note("plan", "chaos", plan_of(scene_));
}

Episode::~Episode() {
    const bool has_failed = complaints_ > 0 || std::uncaught_exceptions() > 0;
    if (has_failed && !scene_.is_control) keep();
}

bool Episode::launch() {
    if (nodes_) {
        nodes_->start(0);
        return true;
    }
    nodes_ = std::make_unique<nodes::Nodes>(scene_.store, 1);
    stage_ = std::make_unique<nodes::Stage>(*nodes_, record_, scene_.seed);
    for (const char* tenant : nodes::tenants) {
        auditors_[tenant] =
            std::make_unique<nodes::Caller>(*nodes_, record_, "auditor", scene_.seed, tenant);
    }
    return true;
}

bool Episode::start(const std::string& plan) {
    if (!plan.empty()) {
        fs::remove(folder_.path() / shim_counts);
        const Environment preload("LD_PRELOAD", SLUICE_CHAOS_SHIM);
        const Environment folder("SLUICE_CHAOS_FOLDER", scene_.store_folder.string());
        const Environment counts("SLUICE_CHAOS_COUNTS", (folder_.path() / shim_counts).string());
        const Environment what("SLUICE_CHAOS_PLAN", plan);
        try {
            launch();
        } catch (const std::runtime_error&) {
            return false;
        }
        record_.note("start", "chaos", {{"node", 0}});
        return true;
    }
    const auto begin = Clock::now();
    launch();
    if (!answers()) complain("the engine started and does not answer");
    const Millis took = e2e::since(begin);
    record_.note("start", "chaos", {{"node", 0}});
    tally_.worst_recovery = std::max(tally_.worst_recovery, took);
    if (took > recovery_max) complain(fmt::format("the start took {} ms", took.count()));
    return true;
}

void Episode::kill() {
    record_.note("kill", "chaos", {{"node", 0}});
    nodes_->kill(0);
}

int Episode::bury() {
    record_.note("kill", "chaos", {{"node", 0}});
    return nodes_->stop(0);
}

bool Episode::answers() {
    try {
        return e2e::Client(nodes_->port(0)).get("/healthz").status == 200;
    } catch (const std::runtime_error&) {
        return false;
    }
}

int Episode::look_for_acknowledged() {
    int lost = 0;
    for (const auto& [job, tenant] : stage_->jobs_after(looked_at_)) {
        ++looked_at_;
        const nodes::Answer answer = auditors_.at(tenant)->once(
            {.op = "read", .args = {{"job", job}}, .method = "GET", .path = "/api/v1/jobs/" + job});
        if (answer.is_ok()) continue;
        ++lost;
        complain(fmt::format("job {} was acknowledged, and is answered {}", job, answer.status));
    }
    return lost;
}

void Episode::complain(const std::string& what) {
    const std::lock_guard lock(mutex_);
    ++complaints_;
    ++tally_.violations;
    if (scene_.is_control) return;
    fmt::print("{}, seed {}: {}\n", tally_.fault, scene_.seed, what);
}

bool Episode::all_ended() {
    return nodes::all_ended(nodes::all_jobs(nodes_->port(0)));
}

void Episode::drain() {
    const bool is_empty = e2e::eventually(
        [&] {
            nodes_->look_after();
            std::this_thread::sleep_for(Millis(30));
            return all_ended();
        },
        drain_patience);
    if (!is_empty) complain("jobs have not ended long after the last fault");
}

void Episode::judge() {
    const fs::path history = folder_.path() / "history.jsonl";
    nodes::check_limits(*stage_);
    record_.finish();
    is_judged_ = true;
    nodes::export_history(nodes_->port(0), nodes::all_jobs(nodes_->port(0)), history);
    if (const int code = nodes_->stop(0); code != 0) {
        complain(fmt::format("the engine ended with {}", code));
    }
    nodes::export_ledger(scene_.store, history);
    check_store();
    check_record(history);
}

void Episode::check_store() {
    const e2e::Ended verified = e2e::run_sluice({"audit", "verify", "--store", scene_.store});
    if (verified.code != 0) complain("audit verify: " + verified.output + verified.errors);
    if (is_on_postgres(scene_.store)) return;
    const std::string answer = integrity_check(scene_.store.substr(scene_.store.find(':') + 1));
    if (answer != "ok") complain("integrity_check: " + answer);
}

void Episode::check_record(const fs::path& history_path) {
    std::ifstream record(folder_.path() / "record.jsonl");
    std::ifstream history(history_path);
    const checker::Evidence evidence = checker::read_evidence(record, history);
    count(evidence, tally_);
    const checker::Verdict verdict = checker::check(evidence);
    for (const checker::Row& row : verdict.rows) {
        for (const checker::Finding& finding : row.findings()) {
            complain(row.id() + " " + finding.where + ": " + finding.what);
        }
    }
}

// Keeps the evidence, and prints how to repeat the episode.
void Episode::keep() {
    const fs::path kept =
        fs::temp_directory_path() / fmt::format("sluice-chaos-{}-{}", tally_.fault, scene_.seed);
    std::error_code error;
    nodes_.reset();  // it may still write
    if (!is_judged_) record_.finish();
    fs::remove_all(kept, error);
    fs::copy(folder_.path(), kept, fs::copy_options::recursive, error);
    if (!scene_.store_folder.empty()) {
        fs::copy(scene_.store_folder, kept / "store", fs::copy_options::recursive, error);
    }
    fmt::print("  kept:  {}\n  again: ./dev chaos --seed {} {}\n  judge: {} {} {}\n", kept.string(),
               scene_.seed, scene_.repeat, SLUICE_JOBCHECK, (kept / "record.jsonl").string(),
               (kept / "history.jsonl").string());
}

Calls Episode::calls() const {
    std::ifstream file(folder_.path() / shim_counts, std::ios::binary);
    Calls calls;
    for (const char* name : {"open", "pwrite64", "write", "fdatasync", "ftruncate", "unlink"}) {
        file.read(reinterpret_cast<char*>(&calls[name]), sizeof(std::uint64_t));
    }
    return calls;
}

Load::Load(Episode& episode, int clients, int workers, int operators) : stage_(episode.stage()) {
    for (int number = 0; number < clients; ++number) {
        clients_.emplace_back(run_actor, std::ref(episode), nodes::act_as_client, number);
    }
    for (int number = 0; number < workers; ++number) {
        workers_.emplace_back(run_actor, std::ref(episode), nodes::act_as_worker, number);
    }
    for (int number = 0; number < operators; ++number) {
        workers_.emplace_back(run_actor, std::ref(episode), nodes::act_as_operator, number);
    }
}

void Load::stop_clients() {
    stage_.phase = nodes::Phase::healing;
    for (std::thread& client : clients_) client.join();
    clients_.clear();
}

Load::~Load() {
    stop_clients();
    stage_.phase = nodes::Phase::over;
    for (std::thread& worker : workers_) worker.join();
}

}  // namespace sluice::chaos
