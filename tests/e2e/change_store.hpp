#pragma once

#include <gtest/gtest.h>
#include <sqlite3.h>

#include <string>

#include "e2e/engine.hpp"
#include "infrastructure/postgres/connection/connection.hpp"

namespace sluice::e2e {

// Changes the tables of a store "sqlite:PATH" behind the back of its engine.
inline void change_store(const std::string& store, const std::string& sql) {
    if (on_postgres()) {
        postgres::Connection database({.url = store_in_use(store)});
        database.execute(sql);
        return;
    }
    sqlite3* database = nullptr;
    ASSERT_EQ(sqlite3_open(store.substr(store.find(':') + 1).c_str(), &database), SQLITE_OK);
    sqlite3_busy_timeout(database, 5000);
    char* error = nullptr;
    EXPECT_EQ(sqlite3_exec(database, sql.c_str(), nullptr, nullptr, &error), SQLITE_OK) << error;
    EXPECT_GE(sqlite3_changes(database), 1) << sql;
    sqlite3_close(database);
}

}  // namespace sluice::e2e
