#pragma once

#include <optional>

#include "infrastructure/sqlite/database/statement.hpp"

namespace sluice::sqlite {

// Ends a read in every case, since an open one keeps the log from being reused.
class Reading {
  public:
    explicit Reading(Statement& statement) : statement_(statement) {}
    ~Reading() { statement_.rewind(); }
    Reading(const Reading&) = delete;
    Reading& operator=(const Reading&) = delete;

  private:
    Statement& statement_;
};

// Keeps one moment of the store readable, for as long as it lives.
class Snapshot {
  public:
    explicit Snapshot(sqlite3* connection) : connection_(connection) {
        execute(connection, "BEGIN");
    }
    // Nothing was written, so a failure does no harm.
    ~Snapshot() { roll_back(connection_); }
    Snapshot(const Snapshot&) = delete;
    Snapshot& operator=(const Snapshot&) = delete;

  private:
    sqlite3* connection_;
};

// How a reader sees one moment in a call of several statements.
enum class Moments {
    of_transaction,  // its caller has one open
    of_each_call,    // it takes a snapshot
};

class Moment {
  public:
    Moment(sqlite3* connection, Moments moments) {
        if (moments == Moments::of_each_call) snapshot_.emplace(connection);
    }

  private:
    std::optional<Snapshot> snapshot_;
};

}  // namespace sluice::sqlite
