#include "infrastructure/postgres/connection/wire.hpp"

#include <fmt/format.h>
#include <libpq-fe.h>
#include <poll.h>

#include <algorithm>
#include <cerrno>
#include <stdexcept>
#include <utility>

#include "domain/values/check.hpp"
#include "infrastructure/postgres/connection/deadline_clock.hpp"
#include "infrastructure/postgres/connection/errors.hpp"

namespace sluice::postgres {
namespace {

constexpr int oldest_version = 130000;

using Setting = std::pair<std::string, std::string>;

// Settings that the URL may override. A server whose machine has gone is noticed in seconds, not in
// the hours of TCP's own timeouts; and of several hosts, the one that accepts writes is taken.
const std::vector<Setting> defaults{
    {"keepalives_idle", "5"},     {"keepalives_interval", "2"},           {"keepalives_count", "2"},
    {"tcp_user_timeout", "5000"}, {"target_session_attrs", "read-write"},
};

// One of the hosts of the URL.
struct Server {
    std::string host;
    std::string address;
    std::string port;
};

std::vector<std::string> split(const std::string& list) {
    std::vector<std::string> parts{""};
    for (const char c : list) {
        if (c == ',') {
            parts.emplace_back();
        } else {
            parts.back().push_back(c);
        }
    }
    return parts;
}

// The nth of a list, or its only element, which is meant for all.
std::string nth(const std::vector<std::string>& list, std::size_t n) {
    return list.size() == 1 ? list[0] : n < list.size() ? list[n] : "";
}

// libpq's own message is left out: it quotes the URL, with the password.
std::runtime_error malformed_url() {
    return std::runtime_error(
        "the PostgreSQL URL is malformed; it should look like "
        "postgres://user:password@host:5432/database?sslmode=require, with characters such as "
        "@ : / ? # % in the password written as %40 %3A %2F %3F %23 %25");
}

std::string value_of(const PQconninfoOption* options, std::string_view keyword) {
    for (const PQconninfoOption* option = options; option->keyword; ++option) {
        if (option->keyword == keyword) return option->val ? option->val : "";
    }
    return "";
}

// libpq has one timeout for all hosts when it does not block, so that a silent first host would use
// up the time of the second. Hence each host is tried by itself.
std::vector<Server> servers_in(const std::string& url) {
    char* message = nullptr;
    PQconninfoOption* options = PQconninfoParse(url.c_str(), &message);
    PQfreemem(message);
    if (!options) throw malformed_url();
    const std::vector<std::string> hosts = split(value_of(options, "host"));
    const std::vector<std::string> addresses = split(value_of(options, "hostaddr"));
    const std::string ports = value_of(options, "port");
    PQconninfoFree(options);
    if (ports.find_first_not_of("0123456789,") != std::string::npos) throw malformed_url();

    std::vector<Server> servers;
    for (std::size_t i = 0; i < std::max(hosts.size(), addresses.size()); ++i) {
        servers.push_back({nth(hosts, i), nth(addresses, i), nth(split(ports), i)});
    }
    return servers;
}

Wire start(const ConnectOptions& options, const Server& server) {
    std::vector<Setting> settings = defaults;
    settings.emplace_back("fallback_application_name", options.application_name);
    // The URL overrides settings before it, and yields to those after it.
    settings.emplace_back("dbname", options.url);
    settings.emplace_back("client_encoding", "UTF8");
    if (!server.host.empty()) settings.emplace_back("host", server.host);
    if (!server.address.empty()) settings.emplace_back("hostaddr", server.address);
    if (!server.port.empty()) settings.emplace_back("port", server.port);

    std::vector<const char*> keywords, values;
    for (const Setting& setting : settings) {
        keywords.push_back(setting.first.c_str());
        values.push_back(setting.second.c_str());
    }
    keywords.push_back(nullptr);
    values.push_back(nullptr);
    Wire wire(PQconnectStartParams(keywords.data(), values.data(), /*expand_dbname=*/1));
    if (!wire) throw std::bad_alloc();
    return wire;
}

[[noreturn]] void fail_to_enter(const pg_conn* connection) {
    const RefusedConnection entry = read_refused_entry(PQerrorMessage(connection));
    if (entry.sqlstate.empty()) {
        throw ConnectionLost(fmt::format("PostgreSQL cannot be reached: {}", entry.text));
    }
    const char* const advice = entry.sqlstate == "3D000" ? "; create it: createdb" : "";
    const std::string text = fmt::format("PostgreSQL refuses the connection: {} ({}){}", entry.text,
                                         entry.sqlstate, advice);
    if (is_hopeless(entry.sqlstate)) throw std::runtime_error(text);
    throw ConnectionLost(text);
}

void enter(pg_conn* connection, Millis patience) {
    PQsetErrorVerbosity(connection, PQERRORS_VERBOSE);  // for the SQLSTATE
    PQsetNoticeProcessor(
        connection, [](void*, const char*) {}, nullptr);
    const Deadline deadline(patience);
    PostgresPollingStatusType step =
        PQstatus(connection) == CONNECTION_BAD ? PGRES_POLLING_FAILED : PGRES_POLLING_WRITING;
    while (step != PGRES_POLLING_OK) {
        if (step == PGRES_POLLING_FAILED) fail_to_enter(connection);
        const short events = step == PGRES_POLLING_READING ? POLLIN : POLLOUT;
        pollfd socket{PQsocket(connection), events, 0};
        if (!wait_for({&socket, 1}, deadline.left())) {
            throw ConnectionLost(fmt::format("PostgreSQL at {}:{} has not answered for {} ms",
                                             PQhost(connection), PQport(connection),
                                             patience.count()));
        }
        step = PQconnectPoll(connection);
    }
}

void check_server(const pg_conn* connection) {
    const int version = PQserverVersion(connection);
    if (version < oldest_version) {
        throw std::runtime_error(fmt::format(
            "the server is PostgreSQL {}; version 13 or later is needed", version / 10000));
    }
    const char* encoding = PQparameterStatus(connection, "server_encoding");
    if (encoding && std::string_view(encoding) != "UTF8") {
        throw std::runtime_error(fmt::format(
            "the database \"{}\" keeps text as {}; it must be made with ENCODING 'UTF8'",
            PQdb(connection), encoding));
    }
}

}  // namespace

void Finish::operator()(pg_conn* connection) const {
    PQfinish(connection);
}

Wire connect(const ConnectOptions& options) {
    std::string failure;
    const std::vector<Server> servers = servers_in(options.url);
    const Deadline deadline(options.connect_patience);
    for (std::size_t i = 0; i < servers.size(); ++i) {
        // Time that one host leaves of its share goes to the hosts after it.
        const Millis share = deadline.left() / static_cast<int>(servers.size() - i);
        Wire wire = start(options, servers[i]);
        try {
            enter(wire.get(), share);
        } catch (const ConnectionLost& lost) {
            failure = lost.what();
            continue;
        }
        check_server(wire.get());
        if (PQsetnonblocking(wire.get(), 1) == 0 && PQenterPipelineMode(wire.get()) == 1) {
            return wire;
        }
        failure = last_error(wire.get());
    }
    throw ConnectionLost(failure);
}

bool wait_for(std::span<pollfd> sockets, Millis patience) {
    const Deadline deadline(patience);
    while (true) {
        const int ready =
            ::poll(sockets.data(), sockets.size(), static_cast<int>(deadline.left().count()));
        if (ready >= 0) return ready > 0;
        check(errno == EINTR, "a socket can be waited for");
    }
}

}  // namespace sluice::postgres
