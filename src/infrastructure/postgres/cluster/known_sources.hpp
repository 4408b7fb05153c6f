#pragma once

#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <utility>

#include "application/ports/limit_store.hpp"

namespace sluice::postgres {

// What this node knows of the sources of jobs, so that submits seldom ask the database.
// Thread-safe.
class KnownSources {
  public:
    using Name = std::pair<std::string, std::string>;  // tenant and source

    bool has(const Name& source) const;
    void found(const Name& source);  // in the database
    // This node has written the source, with its last job.
    void written(const Name& source, std::optional<Timestamp> last_job_at);
    // Whether the database must be told of the source with this job: it may not know the source, or
    // no job of the last second.
    bool must_write(const Name& source, std::optional<Timestamp> last_job_at) const;
    void forget(const Name& source);

    // How many sources a tenant has: as the database said lately, and those that this node has
    // added since. Nothing: the database must be asked, which is so for each new source while few
    // more are allowed.
    std::optional<std::int64_t> count(const std::string& tenant, Timestamp now) const;
    void counted(const std::string& tenant, std::int64_t count, Timestamp now);

  private:
    struct Count {
        std::int64_t sources = 0;
        Timestamp at{};
    };

    mutable std::mutex mutex_;
    std::map<Name, Timestamp> sources_;    // and the last job that was written
    std::map<std::string, Count> counts_;  // by tenant
};

}  // namespace sluice::postgres
