#include "infrastructure/postgres/connection/pipeline.hpp"

#include <fmt/format.h>
#include <libpq-fe.h>
#include <poll.h>

#include <algorithm>
#include <array>
#include <functional>
#include <utility>

#include "domain/values/check.hpp"
#include "infrastructure/postgres/connection/deadline_clock.hpp"
#include "infrastructure/postgres/connection/errors.hpp"

namespace sluice::postgres {
namespace {

constexpr int binary = 1;

struct Clear {
    void operator()(pg_result* result) const { PQclear(result); }
};
using Owned = std::unique_ptr<pg_result, Clear>;

// Parameters as libpq takes them.
struct Arguments {
    explicit Arguments(const Params& params) {
        for (std::size_t i = 0; i < params.size(); ++i) {
            values.push_back(params.value(i).data());
            lengths.push_back(static_cast<int>(params.value(i).size()));
        }
        formats.assign(params.size(), binary);
    }
    int count() const { return static_cast<int>(values.size()); }

    std::vector<const char*> values;
    std::vector<int> lengths;
    std::vector<int> formats;
};

// Statements are told apart by their texts, so two of the same name do no harm.
std::string statement_name(const Query& query) {
    return fmt::format("{}_{:016x}", query.name, std::hash<std::string_view>{}(query.text));
}

bool is_error(ExecStatusType status) {
    return status != PGRES_COMMAND_OK && status != PGRES_TUPLES_OK && status != PGRES_EMPTY_QUERY;
}

}  // namespace

Pipeline::Pipeline(Wire wire, Millis patience) : wire_(std::move(wire)), patience_(patience) {}

bool Pipeline::is_in_transaction() const {
    return PQtransactionStatus(wire_.get()) != PQTRANS_IDLE;
}

Pipeline::Ticket Pipeline::send(const Query& query, const Params& params, Answer answer) {
    require_wire();
    const Arguments arguments(params);
    if (pooled_ || query.name.empty()) {
        require(PQsendQueryParams(wire_.get(), std::string(query.text).c_str(), arguments.count(),
                                  nullptr, arguments.values.data(), arguments.lengths.data(),
                                  arguments.formats.data(), binary));
    } else {
        const std::string name = statement_name(query);
        if (!prepared_.contains(name)) prepare(query, name);
        require(PQsendQueryPrepared(wire_.get(), name.c_str(), arguments.count(),
                                    arguments.values.data(), arguments.lengths.data(),
                                    arguments.formats.data(), binary));
    }
    expected_.push_back({Expected::Kind::statement, ++last_ticket_, answer});
    is_flushed_ = is_synced_ = false;
    return last_ticket_;
}

void Pipeline::prepare(const Query& query, const std::string& name) {
    require(PQsendPrepare(wire_.get(), name.c_str(), std::string(query.text).c_str(), 0, nullptr));
    expected_.push_back({Expected::Kind::preparation, 0, Answer::dropped, name});
    prepared_.insert(name);
}

void Pipeline::send_sync() {
    require_wire();
    if (is_synced_) return;
    require(PQpipelineSync(wire_.get()));
    expected_.push_back({Expected::Kind::sync});
    is_flushed_ = is_synced_ = true;
}

Result Pipeline::take(Ticket ticket) {
    while (true) {
        if (std::optional<Result> result = find_kept(ticket)) return *std::move(result);
        require_wire();
        check(!expected_.empty(), "an answer is taken once");
        ask_for_answers();
        if (const std::exception_ptr error = receive()) std::rethrow_exception(error);
    }
}

void Pipeline::ask_for_answers() {
    if (is_flushed_) return;
    if (has_begun_) return send_sync();
    require(PQsendFlushRequest(wire_.get()));
    is_flushed_ = true;
}

std::optional<Result> Pipeline::find_kept(Ticket ticket) {
    const auto found = std::find_if(kept_.begin(), kept_.end(),
                                    [&](const Kept& kept) { return kept.ticket == ticket; });
    if (found == kept_.end()) return std::nullopt;
    std::optional<Result> result = std::move(found->result);
    kept_.erase(found);
    return result;
}

void Pipeline::drain() {
    require_wire();
    std::exception_ptr first_error;
    while (!expected_.empty()) {
        const std::exception_ptr error = receive();
        if (!first_error) first_error = error;
    }
    if (first_error) std::rethrow_exception(first_error);
}

void Pipeline::settle(Millis patience) noexcept {
    const Millis usual = std::exchange(patience_, patience);
    try {
        send_sync();
        drain();
    } catch (const std::exception&) {
        // The caller of settle() knows already that something went wrong; only the state counts.
        if (!is_at_rest()) lost_ = true;
    }
    patience_ = usual;
}

// Receives the next answer, and returns the error of its statement, if any.
std::exception_ptr Pipeline::receive() {
    await_answer();
    Owned result(PQgetResult(wire_.get()));
    if (!result) lose(last_error(wire_.get()));
    const Expected expected = std::move(expected_.front());
    expected_.pop_front();

    const ExecStatusType status = PQresultStatus(result.get());
    if (expected.kind == Expected::Kind::sync && status == PGRES_PIPELINE_SYNC) return nullptr;
    std::exception_ptr error = is_error(status) ? error_in(result.get(), expected) : nullptr;
    if (lost_) return error;
    // Each answer but that of a sync is followed by a mark of its end.
    if (Owned(PQgetResult(wire_.get()))) lose("it has sent an answer that nobody has asked for");
    if (!error && expected.answer == Answer::kept) {
        kept_.push_back({expected.ticket, Result(result.release())});
    }
    return error;
}

std::exception_ptr Pipeline::error_in(const pg_result* result, const Expected& expected) {
    // The preparation failed.
    if (expected.kind == Expected::Kind::preparation) prepared_.erase(expected.name);
    if (PQresultStatus(result) == PGRES_PIPELINE_ABORTED) {
        return std::make_exception_ptr(
            Refused("25P02", "PostgreSQL: skipped, since a statement before it has failed"));
    }
    switch (verdict_of(result)) {
        case Verdict::statement_not_there: pooled_ = true; break;
        case Verdict::lost: lost_ = true; break;
        case Verdict::conflict:
        case Verdict::full:
        case Verdict::refused: break;
    }
    if (PQstatus(wire_.get()) == CONNECTION_BAD && !lost_) lose(last_error(wire_.get()));
    return exception_for(result);
}

// Reads while it writes: a server that cannot get rid of its answers stops reading.
void Pipeline::await_answer() {
    while (true) {
        const int unsent = PQflush(wire_.get());
        if (unsent < 0) lose(last_error(wire_.get()));
        if (PQisBusy(wire_.get()) == 0) return;
        const int events = unsent > 0 ? POLLIN | POLLOUT : POLLIN;
        pollfd socket{PQsocket(wire_.get()), static_cast<short>(events), 0};
        if (!wait_for({&socket, 1}, patience_)) {
            lost_ = silent_ = true;
            throw ServerSilent(fmt::format(
                "the connection to PostgreSQL is lost: the server has not answered for {} ms",
                patience_.count()));
        }
        if ((socket.revents & ~POLLOUT) != 0) read_input();
    }
}

void Pipeline::read_input() {
    if (PQconsumeInput(wire_.get()) == 0) lose(last_error(wire_.get()));
}

void Pipeline::run_text(const std::string& text) {
    require_wire();
    check(is_at_rest(), "text runs when nothing else does");
    require(PQexitPipelineMode(wire_.get()));
    require(PQsendQuery(wire_.get(), text.c_str()));
    std::exception_ptr first_error;
    while (true) {
        await_answer();
        const Owned result(PQgetResult(wire_.get()));
        if (!result) break;
        const ExecStatusType status = PQresultStatus(result.get());
        check(status != PGRES_COPY_IN && status != PGRES_COPY_OUT, "text has no COPY");
        if (is_error(status) && !first_error) first_error = error_in(result.get(), {});
    }
    if (!lost_) require(PQenterPipelineMode(wire_.get()));
    if (first_error) std::rethrow_exception(first_error);
}

std::vector<Connection::Notification> Pipeline::wait_for_notifications(Millis patience, int wake) {
    require_wire();
    const Deadline deadline(patience);
    std::vector<Connection::Notification> come = take_notifications();
    while (come.empty()) {
        std::array<pollfd, 2> sockets{{{PQsocket(wire_.get()), POLLIN, 0}, {wake, POLLIN, 0}}};
        if (!wait_for(sockets, deadline.left())) break;
        if (sockets[0].revents != 0) {
            read_input();
            come = take_notifications();
        }
        if (sockets[1].revents != 0) break;
    }
    return come;
}

std::vector<Connection::Notification> Pipeline::take_notifications() {
    struct Free {
        void operator()(PGnotify* notification) const { PQfreemem(notification); }
    };
    std::vector<Connection::Notification> come;
    while (const auto next = std::unique_ptr<PGnotify, Free>(PQnotifies(wire_.get()))) {
        come.push_back({next->relname, next->extra});
    }
    return come;
}

// libpq refuses to send when the connection is broken; any other reason would be a bug.
void Pipeline::require(int is_done) {
    if (is_done == 1) return;
    const std::string message = last_error(wire_.get());
    check(PQstatus(wire_.get()) == CONNECTION_BAD, message.c_str());
    lose(message);
}

void Pipeline::require_wire() const {
    if (lost_) throw ConnectionLost("the connection to PostgreSQL was lost before");
}

void Pipeline::lose(const std::string& why) {
    lost_ = true;
    throw ConnectionLost(fmt::format("the connection to PostgreSQL is lost: {}", why));
}

}  // namespace sluice::postgres
