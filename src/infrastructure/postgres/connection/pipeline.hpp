#pragma once

#include <deque>
#include <exception>
#include <optional>
#include <string>
#include <unordered_set>
#include <vector>

#include "infrastructure/postgres/connection/connection.hpp"
#include "infrastructure/postgres/connection/wire.hpp"

namespace sluice::postgres {

// libpq's side of a connection: the statements that are not answered yet, in order.
//
// The server answers when it is asked to flush or at a sync. A sync ends an implicit transaction,
// and after an error the server skips everything up to it. Waits throw ServerSilent when no byte
// has moved for as long as the patience.
//
// Between a flush and the next sync the server waits for its client without any limit, with all
// locks of the transaction. So in a transaction that has a BEGIN, which a sync does not end,
// answers are asked for with syncs: there idle_in_transaction_session_timeout counts.
class Pipeline {
  public:
    using Ticket = Connection::Ticket;

    Pipeline(Wire wire, Millis patience);

    bool is_lost() const { return lost_; }
    bool fell_silent() const { return silent_; }
    void set_patience(Millis patience) { patience_ = patience; }
    bool is_pooled() const { return pooled_; }
    void set_pooled() { pooled_ = true; }
    const pg_conn* wire() const { return wire_.get(); }

    // Nothing waits for an answer, and there is no implicit transaction.
    bool is_at_rest() const { return expected_.empty() && is_synced_; }
    // A transaction is open, or has failed and was not ended. Only known at rest.
    bool is_in_transaction() const;

    // A statement that is sent next begins an implicit transaction.
    bool starts_transaction() const { return is_synced_ && !has_begun_; }

    enum class Answer { kept, dropped };
    Ticket send(const Query& query, const Params& params, Answer answer);
    void send_sync();  // unless there was nothing since the last one
    void set_has_begun(bool has_begun) { has_begun_ = has_begun; }

    // Waits for this answer. Throws the first error that it meets on the way.
    Result take(Ticket ticket);

    // Waits for all answers, up to the last sync, and then throws the first error among them.
    void drain();

    // The same within this patience, without the errors. The connection is lost when it fails.
    void settle(Millis patience) noexcept;

    // Drops the answers that have come and were not taken.
    void drop_kept() { kept_.clear(); }

    // Runs text of several statements outside of pipeline mode, which does not allow that. Only at
    // rest.
    void run_text(const std::string& text);

    std::vector<Connection::Notification> wait_for_notifications(Millis patience, int wake);

  private:
    struct Expected {
        enum class Kind { statement, preparation, sync };
        Kind kind = Kind::statement;
        Ticket ticket = 0;
        Answer answer = Answer::dropped;
        std::string name{};  // of the statement that is prepared
    };
    struct Kept {
        Ticket ticket = 0;
        Result result{};
    };
    void prepare(const Query& query, const std::string& name);
    std::optional<Result> find_kept(Ticket ticket);
    void ask_for_answers();
    std::exception_ptr receive();
    std::exception_ptr error_in(const pg_result* result, const Expected& expected);
    void await_answer();
    void read_input();
    void require(int is_done);
    void require_wire() const;
    std::vector<Connection::Notification> take_notifications();
    [[noreturn]] void lose(const std::string& why);

    Wire wire_;
    Millis patience_;
    bool lost_ = false;
    bool silent_ = false;
    bool pooled_ = false;
    bool is_flushed_ = true;  // nothing was sent since the last flush request
    bool is_synced_ = true;   // nothing was sent since the last sync
    bool has_begun_ = false;  // a BEGIN was sent, and neither its COMMIT nor its ROLLBACK
    Ticket last_ticket_ = 0;
    std::deque<Expected> expected_;
    std::deque<Kept> kept_;
    std::unordered_set<std::string> prepared_;  // or about to be, by a statement that was sent
};

}  // namespace sluice::postgres
