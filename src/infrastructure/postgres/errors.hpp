#pragma once

#include <exception>
#include <string>
#include <string_view>

struct pg_conn;
struct pg_result;

namespace sluice::postgres {

// What an error means for whoever sent the statement; see connection.hpp for the exceptions.
enum class Verdict {
    conflict,             // StoreConflict
    statement_not_there,  // StoreConflict: a pooler gave us another session than the one before
    lost,                 // ConnectionLost
    full,                 // StoreFull: the server's disk is
    refused,              // Refused
};
Verdict verdict_of(const pg_result* result);

// Nobody will be let in however often it is tried: the password, the database, the rights.
bool is_hopeless(std::string_view sqlstate);

// The exception for a result that is an error. Says what the server says in one line, without the
// parameters.
std::exception_ptr exception_for(const pg_result* result);

// What libpq last said about the connection, in one line.
std::string last_words(const pg_conn* connection);

// What was said when a connection was not made. Expects it with all details, which is the only way
// to learn the SQLSTATE.
struct RefusedEntry {
    std::string sqlstate;  // empty: the server has not said anything
    std::string text;
};
RefusedEntry read_refused_entry(std::string_view message);

}  // namespace sluice::postgres
