#pragma once

#include <memory>

#include "infrastructure/postgres/connection/connection.hpp"
#include "infrastructure/postgres/connection/outage.hpp"

namespace sluice::postgres {

// A connection for reads, which is opened when it is first used, and again after it was lost.
class ReadingConnection {
  public:
    explicit ReadingConnection(ConnectOptions options) : options_(std::move(options)) {}

    // Returns what read(connection) returns. A lost connection is often noticed only when it is
    // used again, e.g. long after the server was restarted; to read again does no harm.
    template <class Read>
    auto use(const Read& read) {
        if (connection_) {
            try {
                return try_once(read);
            } catch (const StoreConflict&) {
            }
        }
        if (!connection_) connect();
        return try_once(read);
    }

    // The same for a read of one statement.
    template <class Read>
    auto ask(const Read& read) {
        return use([&](Connection& connection) {
            auto answer = read(connection);
            connection.sync();
            return answer;
        });
    }

    // The same for a read of several statements, which see one moment.
    template <class Read>
    auto ask_in_snapshot(const Read& read) {
        return use([&](Connection& connection) {
            connection.begin_snapshot();
            auto answer = read(connection);
            connection.commit();
            return answer;
        });
    }

  private:
    template <class Read>
    auto try_once(const Read& read) {
        try {
            return read(*connection_);
        } catch (const StoreUnavailable&) {
            give_up_read();
            throw;
        }
    }

    void connect();
    void give_up_read();

    ConnectOptions options_;
    std::unique_ptr<Connection> connection_;
    Outage outage_;
};

}  // namespace sluice::postgres
