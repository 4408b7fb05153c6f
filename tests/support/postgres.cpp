#include "support/postgres.hpp"

#include <libpq-fe.h>

#include <cstdlib>
#include <fstream>
#include <memory>
#include <random>
#include <stdexcept>

#include "infrastructure/postgres/schema/migrations.hpp"

namespace sluice {
namespace {

struct Finish {
    void operator()(PGconn* connection) const { PQfinish(connection); }
};
struct Clear {
    void operator()(PGresult* result) const { PQclear(result); }
};

void administer(const std::string& statement) {
    const std::unique_ptr<PGconn, Finish> connection(PQconnectdb(test_server_url().c_str()));
    const std::unique_ptr<PGresult, Clear> result(PQexec(connection.get(), statement.c_str()));
    if (PQresultStatus(result.get()) == PGRES_COMMAND_OK) return;
    throw std::runtime_error("the test server: " + std::string(PQerrorMessage(connection.get())));
}

std::string url_of(const std::string& database) {
    const std::string url = test_server_url();
    return url.substr(0, url.rfind('/') + 1) + database;
}

// Returns the name of a new database that is a copy of this one, which must have no connections.
std::string copy_of(const std::string& pattern) {
    std::random_device dice;
    std::string name = "test_" + std::to_string(dice()) + "_" + std::to_string(dice());
    administer("CREATE DATABASE " + name + " TEMPLATE " + pattern);
    return name;
}

std::string make_pattern() {
    std::string name = copy_of("template0");
    postgres::migrate({.url = url_of(name)});
    return name;
}

}  // namespace

std::string test_server_url() {
    const char* given = std::getenv("SLUICE_TEST_POSTGRES");
    const std::string path = given ? given : SLUICE_TEST_POSTGRES_URL_FILE;
    std::string url;
    if (!std::getline(std::ifstream(path), url)) {
        throw std::runtime_error("there is no PostgreSQL for the tests: no URL in " + path +
                                 "; \"tests/postgres.sh start FOLDER\" starts one");
    }
    return url;
}

std::string fresh_database() {
    return url_of(copy_of("template0"));
}

std::string migrated_database() {
    static const std::string pattern = make_pattern();
    return url_of(copy_of(pattern));
}

}  // namespace sluice
