#pragma once

#include <exception>
#include <string>
#include <string_view>

struct pg_conn;
struct pg_result;

namespace sluice::postgres {

// The meaning of an error for the sender of the statement; see connection.hpp for the exceptions.
enum class Verdict {
    conflict,             // StoreConflict
    statement_not_there,  // StoreConflict: a pooler has switched the session
    lost,                 // ConnectionLost
    full,                 // StoreFull: the server's disk is
    refused,              // Refused
};
Verdict verdict_of(const pg_result* result);

// Another try is no use: the password, the database or the rights are wrong.
bool is_hopeless(std::string_view sqlstate);

// The exception for a result that is an error, with the server's message in one line, without the
// parameters.
std::exception_ptr exception_for(const pg_result* result);

// libpq's last message about the connection, in one line.
std::string last_error(const pg_conn* connection);

// Why a connection was refused. Expects the message with all details, which is the only way to
// learn the SQLSTATE.
struct RefusedConnection {
    std::string sqlstate;  // empty: the server has not said anything
    std::string text;
};
RefusedConnection read_refused_entry(std::string_view message);

}  // namespace sluice::postgres
