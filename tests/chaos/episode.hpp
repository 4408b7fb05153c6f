#pragma once

#include <filesystem>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "chaos/summary.hpp"
#include "e2e/process.hpp"
#include "nodes/actors.hpp"

namespace sluice::chaos {

// By name: how often an engine did this call on its store's files. See shim.cpp.
using Calls = std::map<std::string, std::uint64_t>;

// The settings of one episode.
struct Scene {
    std::string store{};                   // its URL
    std::filesystem::path store_folder{};  // where its files are; empty: it has none
    std::uint64_t seed = 1;
    std::string repeat{};     // the arguments of ./dev chaos that repeat it
    bool is_control = false;  // it must fail: it prints nothing and keeps nothing
};

// A folder for one episode, in memory where that is possible: a killed process leaves the same
// files there as on a disk, and many episodes fit into a minute.
class FastFolder {
  public:
    FastFolder();
    ~FastFolder();
    FastFolder(const FastFolder&) = delete;
    FastFolder& operator=(const FastFolder&) = delete;

    const std::filesystem::path& path() const { return path_; }

  private:
    std::filesystem::path path_;
};

// One engine on one store, from its first start to the checker's verdict. A broken promise is
// counted in the tally, and its evidence is kept.
class Episode {
  public:
    Episode(Scene scene, Tally& tally);
    ~Episode();
    Episode(const Episode&) = delete;
    Episode& operator=(const Episode&) = delete;

    nodes::Nodes& nodes() { return *nodes_; }
    nodes::Record& record() { return record_; }
    nodes::Stage& stage() { return *stage_; }

    // Starts the engine, which must answer within two seconds. With a plan (see shim.cpp) it may
    // also die meanwhile: false then.
    bool start(const std::string& plan = "");

    void kill();

    // The engine has ended by itself: returns how.
    int bury();

    bool answers();  // whether the engine lives

    // Reads all jobs that were acknowledged since the last time; a missing one is a violation.
    // Returns how many these were.
    int look_for_acknowledged();

    void complain(const std::string& what);  // any thread

    bool all_ended();  // whether all jobs have, and no lease is open

    // Waits until all jobs have ended. Workers, if any, go on meanwhile.
    void drain();

    // After the drain, with no clients left: exports the history, stops the engine, and judges the
    // whole run.
    void judge();

    // The calls of the engine that was started with a plan last.
    Calls calls() const;

  private:
    bool launch();
    void check_store();
    void check_record(const std::filesystem::path& history);
    void keep();

    Scene scene_;
    Tally& tally_;
    e2e::TempFolder folder_;
    nodes::Record record_;
    std::unique_ptr<nodes::Nodes> nodes_;
    std::unique_ptr<nodes::Stage> stage_;
    std::map<std::string, std::unique_ptr<nodes::Caller>> auditors_;  // by tenant
    std::size_t looked_at_ = 0;
    bool is_judged_ = false;
    std::mutex mutex_;
    std::size_t complaints_ = 0;
};

// Clients, workers and operators that use an episode's engine.
class Load {
  public:
    Load(Episode& episode, int clients, int workers, int operators = 0);
    ~Load();
    Load(const Load&) = delete;
    Load& operator=(const Load&) = delete;

    void stop_clients();

  private:
    nodes::Stage& stage_;
    std::vector<std::thread> clients_;
    std::vector<std::thread> workers_;  // and operators
};

}  // namespace sluice::chaos
