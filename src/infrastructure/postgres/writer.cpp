#include "infrastructure/postgres/writer.hpp"

#include <cstdlib>
#include <thread>

#include "domain/json_text.hpp"
#include "infrastructure/log.hpp"
#include "infrastructure/postgres/deadline_clock.hpp"
#include "infrastructure/postgres/write_queries.hpp"

namespace sluice::postgres {
namespace {

constexpr Millis retry_pause{50};
// The server gives up on a lock sooner, so that it says something within this time.
constexpr Millis doubt_answer_patience{1000};

// That it can never work was said at the start. It worked once, and may do so again.
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
    if (count.rows() == 0) stand_up("the seat has another owner");
    return Row(count, 0).integer();
}

}  // namespace

void stand_up(const std::string& why) {
    std::string fields = R"("error":)";
    append_json_string(fields, why);
    log::error("this node was away for so long that another one took its seat; ending", fields);
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
