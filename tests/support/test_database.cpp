#include "support/test_database.hpp"

#include "infrastructure/postgres/schema/migrations.hpp"
#include "support/postgres.hpp"

namespace sluice {

const std::string& TestDatabase::url() {
    if (url_.empty()) {
        url_ = fresh_database();
        postgres::Connection connection({.url = url_});
        postgres::migrate(connection);
    }
    return url_;
}

std::unique_ptr<PostgresStore> TestDatabase::open() {
    return std::make_unique<PostgresStore>(
        std::make_shared<postgres::Cluster>(postgres::Database{url()}, "test node"));
}

std::unique_ptr<PostgresStore> TestDatabase::open_empty() {
    clear();
    return open();
}

void TestDatabase::clear() {
    postgres::Connection connection({.url = url()});
    std::string deletions;
    for (const char* table : {"job",
                              "done",
                              "event",
                              "log",
                              "requeued",
                              "lease",
                              "lane",
                              "ready",
                              "timed",
                              "blocker",
                              "open_dependency",
                              "held",
                              "parked",
                              "idempotency",
                              "entity",
                              "entity_event",
                              "seat",
                              "meter",
                              "permit_return",
                              "source",
                              "source_hour"}) {
        deletions += std::string("DELETE FROM ") + table + ";";
    }
    connection.execute(deletions);
}

}  // namespace sluice
