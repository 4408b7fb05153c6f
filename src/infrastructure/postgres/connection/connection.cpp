#include "infrastructure/postgres/connection/connection.hpp"

#include <fmt/format.h>
#include <libpq-fe.h>

#include "infrastructure/postgres/connection/pipeline.hpp"
#include "infrastructure/postgres/connection/wire.hpp"

namespace sluice::postgres {
namespace {

using Answer = Pipeline::Answer;

constexpr Millis patience_with_roll_back{1000};

// No name: these are sent when a session may be new or has failed.
constexpr Query backend_pid{"", "SELECT pg_backend_pid()"};
constexpr Query roll_back_query{"", "ROLLBACK"};

// The level is named, since the server's default may be another one.
constexpr Query begin_query{"begin", "BEGIN ISOLATION LEVEL READ COMMITTED"};
constexpr Query begin_snapshot_query{"begin_snapshot",
                                     "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY"};
constexpr Query commit_query{"commit", "COMMIT"};

// The queue's tables are empty in one moment and have a million rows in the next, and statistics
// come too late. So a session that works on them may only use plans that are good in both cases,
// loops over indexes; and none with parallel workers, whose start takes longer than all the rest,
// but which look cheap beside a scan that is not wanted. A lock that does not come soon is held by
// a node that is stuck: the batch then fails and is tried again, so that the sessions behind it
// need not wait. And a node that has died in a transaction, or cannot be reached any more, must not
// keep its locks: they are free by the time at which it would count the server as silent, which is
// about as soon as the server counts a node as gone that does not even answer its keepalives.
constexpr const char* queue_settings =
    "SET jit = off; SET enable_hashjoin = off; SET enable_mergejoin = off;"
    "SET enable_bitmapscan = off; SET enable_seqscan = off;"
    "SET max_parallel_workers_per_gather = 0;"
    "SET plan_cache_mode = force_generic_plan;"
    "SET lock_timeout = '500ms'; SET statement_timeout = '4s';"
    "SET idle_in_transaction_session_timeout = '5s'";

// A pooler lends a session to many clients, so each transaction sets the search path. It is sent
// with the beginning of the transaction, and costs no round trip.
constexpr Query path_of_transaction{"", "SELECT set_config('search_path', $1::text, true)"};

constexpr Query queue_settings_of_transaction{
    "queue_settings",
    "SELECT set_config('search_path', $1::text, true),"
    " set_config('jit', 'off', true), set_config('enable_hashjoin', 'off', true),"
    " set_config('enable_mergejoin', 'off', true), set_config('enable_bitmapscan', 'off', true),"
    " set_config('enable_seqscan', 'off', true),"
    " set_config('max_parallel_workers_per_gather', '0', true),"
    " set_config('lock_timeout', '500ms', true), set_config('statement_timeout', '4s', true),"
    " set_config('idle_in_transaction_session_timeout', '5s', true)"};

// A node's mark is a shared lock that no session waits for. The server releases it with the
// session, or, behind a pooler, with the transaction.
constexpr Query mark_transaction{"mark_transaction",
                                 "SELECT pg_advisory_xact_lock_shared($1::int8)"};

std::string mark_session(std::int64_t mark) {
    return mark == 0 ? "" : fmt::format("SELECT pg_advisory_lock_shared({});", mark);
}

constexpr const char* other_settings =
    "SET jit = off; SET statement_timeout = '4s';"
    "SET idle_in_transaction_session_timeout = '60s'";

// The server's side of the keepalives in wire.cpp: without them it takes two hours to notice a
// client whose machine has gone.
constexpr const char* keepalive_settings =
    "SET tcp_keepalives_idle = 5; SET tcp_keepalives_interval = 2; SET tcp_keepalives_count = 2;"
    "SET tcp_user_timeout = '5s';";

}  // namespace

Connection::Connection(const ConnectOptions& options)
    : pipeline_(std::make_unique<Pipeline>(connect(options), options.connect_patience)),
      schema_(options.schema),
      works_on_queue_(options.works_on_queue),
      node_mark_(options.node_mark) {
    // A pooler invents the process number that it tells a client that connects.
    const Result answer = ask(backend_pid);
    if (Row(answer, 0).small() != PQbackendPID(pipeline_->wire())) pipeline_->set_pooled();
    sync();
    if (!is_pooled()) {
        execute(mark_session(node_mark_) + keepalive_settings +
                fmt::format("SET search_path = {};", schema_.search_path()) +
                (works_on_queue_ ? queue_settings : other_settings));
    }
    set_patience(options.answer_patience);
}

Connection::~Connection() = default;

bool Connection::is_lost() const {
    return pipeline_->is_lost();
}

bool Connection::fell_silent() const {
    return pipeline_->fell_silent();
}

void Connection::set_patience(Millis answer_patience) {
    pipeline_->set_patience(answer_patience);
}

bool Connection::is_pooled() const {
    return pipeline_->is_pooled();
}

int Connection::socket() const {
    return PQsocket(pipeline_->wire());
}

Connection::Ticket Connection::post(const Query& query, const Params& params) {
    set_path_if_transaction_starts();
    return pipeline_->send(query, params, Answer::kept);
}

Result Connection::take(Ticket ticket) {
    return pipeline_->take(ticket);
}

void Connection::send(const Query& query, const Params& params) {
    set_path_if_transaction_starts();
    pipeline_->send(query, params, Answer::dropped);
}

void Connection::begin() {
    start_transaction(begin_query);
    if (!is_pooled()) return;
    if (works_on_queue_) {
        send(queue_settings_of_transaction, Params(schema_.search_path()));
    } else {
        set_path_of_transaction();
    }
}

void Connection::begin_snapshot() {
    start_transaction(begin_snapshot_query);
    if (is_pooled()) set_path_of_transaction();
}

// Statements that were sent before must not become a part of the transaction. The wait is for
// poolers: at the end of a transaction they take the server away, with the statements that were
// sent for the next one.
void Connection::start_transaction(const Query& query) {
    sync();
    pipeline_->drop_kept();
    pipeline_->send(query, {}, Answer::dropped);
    pipeline_->set_has_begun(true);
    if (is_pooled() && node_mark_ != 0) send(mark_transaction, Params(node_mark_));
}

void Connection::set_path_of_transaction() {
    pipeline_->send(path_of_transaction, Params(schema_.search_path()), Answer::dropped);
}

void Connection::set_path_if_transaction_starts() {
    if (is_pooled() && pipeline_->starts_transaction()) set_path_of_transaction();
}

void Connection::commit() {
    pipeline_->set_has_begun(false);
    const Ticket ticket = pipeline_->send(commit_query, {}, Answer::kept);
    pipeline_->send_sync();
    pipeline_->drain();
    // A transaction that has failed ends with another command tag, ROLLBACK, and no error.
    if (pipeline_->take(ticket).command() == "COMMIT") return;
    throw Refused("25P02", "PostgreSQL: the transaction had failed before its commit (25P02)");
}

void Connection::roll_back() noexcept {
    pipeline_->set_has_begun(false);
    if (is_lost()) return;
    pipeline_->settle(patience_with_roll_back);
    pipeline_->drop_kept();
    if (is_lost() || !pipeline_->is_in_transaction()) return;
    try {
        pipeline_->send(roll_back_query, {}, Answer::dropped);
    } catch (const ConnectionLost&) {
        return;
    }
    pipeline_->settle(patience_with_roll_back);
}

void Connection::sync() {
    pipeline_->send_sync();
    pipeline_->drain();
}

void Connection::execute(const std::string& text) {
    const std::string path =
        is_pooled() ? fmt::format("SET LOCAL search_path = {};", schema_.search_path()) : "";
    execute_alone(path + text);
}

void Connection::execute_alone(const std::string& statement) {
    sync();
    pipeline_->run_text(statement);
}

std::vector<Connection::Notification> Connection::wait_for_notifications(Millis patience,
                                                                         int wake) {
    return pipeline_->wait_for_notifications(patience, wake);
}

}  // namespace sluice::postgres
