#include "infrastructure/postgres/store/writer.hpp"

#include <cstdlib>
#include <thread>

#include "infrastructure/postgres/connection/deadline_clock.hpp"
#include "infrastructure/postgres/schema/write_queries.hpp"
#include "infrastructure/system/log.hpp"

namespace sluice::postgres {
namespace {

constexpr Millis retry_pause{50};
// The server gives up waiting for a lock sooner, so that it answers within this time.
constexpr Millis doubt_answer_patience{1000};

// An error that can never go away was reported at the start. The connection worked once, and may do
// so again.
std::unique_ptr<Connection> connect_again(const ConnectOptions& options) {
    try {
        return std::make_unique<Connection>(options);
    } catch (const StoreUnavailable&) {
        throw;
    } catch (const std::runtime_error& error) {
        throw StoreUnavailable(error.what());
    }
}

// The seat's count after the commit in doubt has happened, or after it was shut out.
std::int64_t settled_count(Writer& writer, std::int64_t owner) {
    Connection& connection = *writer.connection;
    connection.set_patience(doubt_answer_patience);
    connection.begin();
    const Result count =
        connection.ask(sql::settle, Params(writer.seat.number, owner, writer.commits));
    connection.commit();
    connection.set_patience(writer.options.answer_patience);
    if (count.rows() == 0) stop_without_seat("the seat has another owner");
    return Row(count, 0).integer();
}

}  // namespace

void stop_without_seat(const std::string& why) {
    log::error(
        "this node did not renew its seat in the database for two minutes, and another one took "
        "it; the process ends: start it again, and it takes a new seat",
        log::field("error", why));
    std::_Exit(EXIT_FAILURE);
}

void reach_server(Writer& writer, Millis patience) {
    if (writer.connection && !writer.connection->is_lost()) return;
    const Deadline deadline(patience);
    for (;;) {
        try {
            writer.connection = connect_again(writer.options);
            writer.outage.is_over();
            return;
        } catch (const StoreUnavailable& unavailable) {
            writer.connection.reset();
            if (deadline.left() <= retry_pause) {
                writer.outage.try_failed();
                throw StoreUnavailable(unavailable.what());  // not a conflict: again is no use
            }
        }
        std::this_thread::sleep_for(retry_pause);
    }
}

bool settle_doubt(Writer& writer, std::int64_t owner, Millis patience) {
    const Deadline deadline(patience);
    for (;;) {
        reach_server(writer, deadline.left());
        try {
            const std::int64_t count = settled_count(writer, owner);
            const bool has_happened = count == writer.commits + 1;
            writer.commits = count;
            writer.is_in_doubt = false;
            return has_happened;
        } catch (const StoreUnavailable& failure) {
            // The lost session may still be at work, with the seat's row locked; or this connection
            // has been lost, too.
            writer.connection->roll_back();
            if (deadline.left() == Millis{0}) {
                writer.outage.try_failed();
                throw StoreUnavailable(failure.what());
            }
        }
    }
}

}  // namespace sluice::postgres
