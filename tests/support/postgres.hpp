#pragma once

#include <string>

namespace sluice {

// The server that the tests talk to. tests/postgres.sh starts it before they run; the environment
// variable SLUICE_TEST_POSTGRES names the file with its URL when it is not the usual one.

// The URL of its database for administration.
std::string test_server_url();

// The URL of a new, empty database. It stays until the server is stopped: to drop one makes
// PostgreSQL flush all others first, which takes seconds.
std::string fresh_database();

// The same with the engine's schema: a copy of one that is made at the first call, since a copy
// takes a fraction of the time of the migrations.
std::string migrated_database();

}  // namespace sluice
