#include "infrastructure/postgres/connection/errors.hpp"

#include <fmt/format.h>
#include <libpq-fe.h>

#include <algorithm>
#include <cctype>

#include "infrastructure/postgres/connection/connection.hpp"

namespace sluice::postgres {
namespace {

constexpr std::size_t text_bytes_max = 200;
constexpr std::size_t sqlstate_bytes = 5;
constexpr std::string_view lock_not_available = "55P03";

bool is_one_of(std::string_view sqlstate, std::initializer_list<std::string_view> states) {
    return std::find(states.begin(), states.end(), sqlstate) != states.end();
}

std::string first_line(std::string_view text) {
    text = text.substr(0, text.find('\n'));
    if (text.size() <= text_bytes_max) return std::string(text);
    return std::string(text.substr(0, text_bytes_max)) + "…";
}

bool is_sqlstate(std::string_view text) {
    return text.size() == sqlstate_bytes && std::all_of(text.begin(), text.end(), [](char c) {
               return std::isdigit(static_cast<unsigned char>(c)) != 0 || (c >= 'A' && c <= 'Z');
           });
}

std::string field(const pg_result* result, int code) {
    const char* value = PQresultErrorField(result, code);
    return value ? value : "";
}

// The server has ended the session with this error, whatever the reason.
bool is_fatal(const pg_result* result) {
    return is_one_of(field(result, PG_DIAG_SEVERITY_NONLOCALIZED), {"FATAL", "PANIC"});
}

}  // namespace

Verdict verdict_of(const pg_result* result) {
    const std::string sqlstate = field(result, PG_DIAG_SQLSTATE);
    // serialization_failure, deadlock_detected, unique_violation: another session was faster.
    if (is_one_of(sqlstate, {"40001", "40P01", lock_not_available, "23505"})) {
        return Verdict::conflict;
    }
    // invalid_sql_statement_name, duplicate_prepared_statement
    if (is_one_of(sqlstate, {"26000", "42P05"})) return Verdict::statement_not_there;
    // Class 08 is about connections. The server stops, has crashed, cannot be reached yet or has
    // ended an idle session; or a failover has left the connection on a server that only reads.
    if (is_fatal(result) || sqlstate.starts_with("08") ||
        is_one_of(sqlstate, {"57P01", "57P02", "57P03", "57P05", "25P03", "25006"})) {
        return Verdict::lost;
    }
    // disk_full: nothing is written until there is space.
    if (sqlstate == "53100") return Verdict::full;
    return Verdict::refused;
}

bool is_hopeless(std::string_view sqlstate) {
    // invalid_password, invalid_authorization, invalid_catalog_name, insufficient_privilege
    return is_one_of(sqlstate, {"28P01", "28000", "3D000", "42501"});
}

std::exception_ptr exception_for(const pg_result* result) {
    const std::string sqlstate = field(result, PG_DIAG_SQLSTATE);
    const std::string primary = field(result, PG_DIAG_MESSAGE_PRIMARY);
    const std::string said = first_line(primary.empty() ? PQresultErrorMessage(result) : primary);
    const std::string text = sqlstate.empty() ? fmt::format("PostgreSQL: {}", said)
                                              : fmt::format("PostgreSQL: {} ({})", said, sqlstate);
    if (sqlstate == lock_not_available) return std::make_exception_ptr(RowLocked(text));
    switch (verdict_of(result)) {
        case Verdict::conflict:
        case Verdict::statement_not_there: return std::make_exception_ptr(StoreConflict(text));
        case Verdict::lost: return std::make_exception_ptr(ConnectionLost(text));
        case Verdict::full: return std::make_exception_ptr(StoreFull(text));
        case Verdict::refused: break;
    }
    return std::make_exception_ptr(Refused(sqlstate, text));
}

std::string last_error(const pg_conn* connection) {
    return first_line(PQerrorMessage(connection));
}

RefusedConnection read_refused_entry(std::string_view message) {
    // FATAL:  28P01: password authentication failed for user "ada"; the first word is in the
    // server's language. With several addresses, the last one counts.
    constexpr std::string_view before = ":  ", after = ": ";
    RefusedConnection entry{.sqlstate = {}, .text = first_line(message)};
    for (std::size_t at = message.find(before); at != std::string_view::npos;
         at = message.find(before, at + 1)) {
        const std::string_view rest = message.substr(at + before.size());
        const std::string_view state = rest.substr(0, sqlstate_bytes);
        if (!is_sqlstate(state) || !rest.substr(sqlstate_bytes).starts_with(after)) continue;
        entry = {std::string(state), first_line(rest.substr(sqlstate_bytes + after.size()))};
    }
    return entry;
}

}  // namespace sluice::postgres
