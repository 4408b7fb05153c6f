#include "infrastructure/postgres/connection/settings.hpp"

#include <stdexcept>

namespace sluice::postgres {
namespace {

constexpr Query read_settings{"read_durability", R"sql(
SELECT current_setting('fsync'), current_setting('full_page_writes'),
    current_setting('synchronous_commit'))sql"};

void require_not_off(const std::string& name, const std::string& value, const std::string& cost) {
    if (value != "off") return;
    throw std::runtime_error("PostgreSQL runs with " + name + " = off, by which " + cost +
                             ": set " + name + " = on for this server, database and role");
}

}  // namespace

void check_durability(Connection& connection) {
    const Connection::Ticket ticket = connection.post(read_settings);
    connection.sync();
    const Result settings = connection.take(ticket);
    Row row(settings, 0);
    require_not_off("fsync", row.text(), "a power failure destroys the database");
    require_not_off("full_page_writes", row.text(), "a power failure can tear its pages");
    require_not_off("synchronous_commit", row.text(), "a crash loses jobs that were accepted");
}

}  // namespace sluice::postgres
