#pragma once

#include <filesystem>

#include "infrastructure/sqlite/database/connection.hpp"
#include "infrastructure/sqlite/reading/job_queries.hpp"

namespace sluice::sqlite {

// Keeps the connection of a reader; a base class, since it must exist before the queries.
struct OwnConnection {
    Connection connection;
};

// Reads in parallel to the writer, on a connection of its own. For one thread at a time.
class SqliteReader final : private OwnConnection, public JobQueries {
  public:
    explicit SqliteReader(const std::filesystem::path& path,
                          std::unique_ptr<LimitReader> limits = {})
        : OwnConnection{open_reader(path)},
          JobQueries(connection.get(), Moments::of_each_call, std::move(limits)) {}
};

}  // namespace sluice::sqlite
