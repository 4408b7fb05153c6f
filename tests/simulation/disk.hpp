#pragma once

#include <filesystem>
#include <memory>

#include "application/ports/store.hpp"
#include "infrastructure/memory/memory_store.hpp"

namespace sluice::simulation {

// The data that survives the death of nodes: the store that they open when they start.
class Disk {
  public:
    virtual ~Disk() = default;

    // A store for one committer; `seat` is its own among those of all nodes.
    virtual std::unique_ptr<Store> open(int seat, Timestamp now) = 0;

    // The process that has it open dies at this very moment.
    virtual void crash() {}

    virtual std::unique_ptr<JobReader> reader() = 0;

    // Whether several committers and nodes may have it open at the same time.
    virtual bool is_shared() const = 0;
};

// Simulates a database: each session sees what all others have committed. Or, when it is not
// shared, a file of a single node.
class MemoryDisk : public Disk {
  public:
    explicit MemoryDisk(bool is_shared = true) : is_shared_(is_shared), store_(is_shared) {}

    std::unique_ptr<Store> open(int seat, Timestamp now) override;
    std::unique_ptr<JobReader> reader() override { return store_.reader(); }
    bool is_shared() const override { return is_shared_; }

  private:
    bool is_shared_;
    MemoryStore store_;
};

// A file of SQLite's in a folder of its own. A crash leaves the data that the system was given: the
// files as they are at that moment, without the writes of a clean close.
class SqliteDisk : public Disk {
  public:
    SqliteDisk();
    ~SqliteDisk() override;
    SqliteDisk(const SqliteDisk&) = delete;
    SqliteDisk& operator=(const SqliteDisk&) = delete;

    std::unique_ptr<Store> open(int seat, Timestamp now) override;
    void crash() override;
    std::unique_ptr<JobReader> reader() override;
    bool is_shared() const override { return false; }

  private:
    std::filesystem::path file() const { return folder_ / std::to_string(life_) / "jobs.db"; }

    std::filesystem::path folder_;
    int life_ = 0;
};

}  // namespace sluice::simulation
