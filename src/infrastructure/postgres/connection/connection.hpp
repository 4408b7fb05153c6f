#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "application/ports/store.hpp"
#include "infrastructure/postgres/connection/columns.hpp"
#include "infrastructure/postgres/connection/result.hpp"
#include "infrastructure/postgres/connection/schema_name.hpp"

namespace sluice::postgres {

class Pipeline;

using Millis = std::chrono::milliseconds;

// The connection is gone, or the server went away: the statements sent may or may not have
// happened. Outside of a commit none has, and the transaction may simply be tried again.
class ConnectionLost : public StoreConflict {
  public:
    using StoreConflict::StoreConflict;
};

// Another session has locked a row that was to be locked; the wait was too long, or not wanted.
class RowLocked : public StoreConflict {
  public:
    using StoreConflict::StoreConflict;
};

// The server has said nothing for as long as the patience, and the connection counts as lost. The
// statements sent may or may not have happened. Another try might be another such wait.
class ServerSilent : public StoreUnavailable {
  public:
    using StoreUnavailable::StoreUnavailable;
};

// The server refused a statement for a reason that another try does not cure.
class Refused : public StoreUnavailable {
  public:
    Refused(std::string sqlstate, const std::string& text)
        : StoreUnavailable(text), sqlstate_(std::move(sqlstate)) {}
    const std::string& sqlstate() const { return sqlstate_; }

  private:
    std::string sqlstate_;
};

// A statement whose text never changes. A connection prepares it at its first use, unless a pooler
// is in between or the query has no name. Parameters and results are binary; the text casts each
// parameter ($1::int8[]).
struct Query {
    std::string_view name;
    std::string_view text;
};

struct ConnectOptions {
    std::string url;  // postgres://…, as libpq takes it; several hosts are fine
    SchemaName schema{};
    std::string application_name = "sluice";
    Millis connect_patience{2000};  // for one try of all hosts
    Millis answer_patience{5000};   // a server that is silent for longer counts as gone
    // The node whose connection this is (Cluster::mark). Its sessions on the server are marked with
    // it, so that others can end them when the node falls silent (silent_nodes.hpp). 0: no node's.
    std::int64_t node_mark = 0;
    // Planner and lock settings of sessions that work on the queue; see the source. They hold for
    // the whole connection, or are sent with each transaction when a pooler is in between.
    bool works_on_queue = false;
};

// One connection, always in pipeline mode: statements are sent without waiting, and their results
// are fetched when they are needed, in order. Used by one thread at a time.
//
// Every statement finds tables by the search path of the schema, also when a pooler is in between.
//
// After any exception the open transaction is over, on the server or soon; call roll_back(), which
// makes the connection usable again or finds that it is lost.
class Connection {
  public:
    // Connects; throws ConnectionLost when no server answers, and std::runtime_error when the
    // answer says that this can never work (password, no such database, a version before 13, an
    // encoding other than UTF8).
    explicit Connection(const ConnectOptions& options);
    ~Connection();
    Connection(const Connection&) = delete;
    Connection& operator=(const Connection&) = delete;

    bool is_lost() const;
    bool fell_silent() const;  // whether it was lost because the server was silent
    void set_patience(Millis answer_patience);
    // A pooler is in between: sessions are shared, so that neither prepared statements, nor
    // settings, nor LISTEN outlive a transaction.
    bool is_pooled() const;
    int socket() const;
    const SchemaName& schema() const { return schema_; }

    using Ticket = std::uint64_t;

    // Sends a statement whose result is fetched later, with take(), once, also after a commit() or
    // sync(), and before the next begin().
    Ticket post(const Query& query, const Params& params = {});
    Result take(Ticket ticket);

    // Sends a statement whose result matters only if it is an error, which a later call throws.
    void send(const Query& query, const Params& params = {});

    // Sends a statement and waits for its result.
    Result ask(const Query& query, const Params& params = {}) { return take(post(query, params)); }

    // A transaction. Statements outside of one are each on their own, once sync() was called.
    void begin();
    void begin_snapshot();  // read only, one moment
    void commit();          // waits until everything sent is on disk
    void roll_back() noexcept;

    // Waits for everything sent, and ends the implicit transaction.
    void sync();

    // Runs text with any number of statements, without parameters, e.g. a migration; waits. It is a
    // transaction of its own, unless the text has its own BEGIN or one is open.
    void execute(const std::string& text);

    // Runs a statement that may be in no transaction, such as VACUUM; it must qualify the names it
    // uses.
    void execute_alone(const std::string& statement);

    // ── only for a connection that listens ──

    // Waits up to `patience` for a notification, or until `wake` (an eventfd) is readable, and
    // returns the notifications that have come.
    struct Notification {
        std::string channel;
        std::string payload;
    };
    std::vector<Notification> wait_for_notifications(Millis patience, int wake);

  private:
    void start_transaction(const Query& query);
    void set_path_of_transaction();
    void set_path_if_transaction_starts();

    std::unique_ptr<Pipeline> pipeline_;
    SchemaName schema_;
    bool works_on_queue_;
    std::int64_t node_mark_;
};

}  // namespace sluice::postgres
