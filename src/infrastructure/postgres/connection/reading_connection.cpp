#include "infrastructure/postgres/connection/reading_connection.hpp"

namespace sluice::postgres {

void ReadingConnection::connect() {
    outage_.refuse_between_tries();
    try {
        connection_ = std::make_unique<Connection>(options_);
        outage_.is_over();
    } catch (const std::runtime_error& error) {
        outage_.try_failed();
        throw StoreUnavailable(error.what());  // it worked once, and may do so again
    }
}

void ReadingConnection::give_up_read() {
    connection_->roll_back();
    if (connection_->fell_silent()) outage_.try_failed();
    if (connection_->is_lost()) connection_.reset();
}

}  // namespace sluice::postgres
