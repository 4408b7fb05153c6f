#pragma once

#include <filesystem>

#include "infrastructure/sqlite/connection.hpp"
#include "infrastructure/sqlite/job_queries.hpp"

namespace sluice::sqlite {

// Keeps the connection of a reader, which must be there before what reads on it.
struct OwnConnection {
    Connection connection;
};

// Reads beside the writer, on a connection of its own. For one thread at a time.
class SqliteReader final : private OwnConnection, public JobQueries {
  public:
    explicit SqliteReader(const std::filesystem::path& path)
        : OwnConnection{open_reader(path)}, JobQueries(connection.get(), Moments::of_each_call) {}
};

}  // namespace sluice::sqlite
