#include "interfaces/http/server/eviction.hpp"

#include <algorithm>
#include <cstddef>
#include <optional>
#include <utility>

namespace sluice::http {
namespace {

using Since = std::optional<Instant> (Connection::*)() const;

// Evicts the connection that has been in this state for longest.
bool evict_longest(const Connections& all, Since since, Instant newest) {
    Connection* found = nullptr;
    Instant start = newest;
    for (Connection* connection : all) {
        const std::optional<Instant> its_start = (connection->*since)();
        if (!connection->is_admitted || !its_start || *its_start > start) continue;
        start = *its_start;
        found = connection;
    }
    if (found != nullptr) found->cut();
    return found != nullptr;
}

std::ptrdiff_t count(const Connections& all, Since since) {
    return std::count_if(all.begin(), all.end(), [&](const Connection* connection) {
        return connection->is_admitted && (connection->*since)();
    });
}

// Evicts the slowest of the connections whose answers are unread since `newest` or longer. By the
// rate, as with bodies; of those that have read nothing, the one that does so for longest.
bool evict_reader(const Connections& all, const Connection* spared, Instant newest, Instant now) {
    using Slowness = std::pair<double, Instant>;
    Connection* found = nullptr;
    Slowness least;
    for (Connection* connection : all) {
        const std::optional<Instant> start = connection->leaves_unread_since();
        if (!start || *start > newest || connection == spared) continue;
        const Slowness slowness{connection->bytes_read_per_second(now), *start};
        if (found != nullptr && slowness >= least) continue;
        least = slowness;
        found = connection;
    }
    if (found != nullptr) found->cut();
    return found != nullptr;
}

}  // namespace

// A connection is evicted that is half-way, with a request or an answer, or one that is idle, and
// always the one that has been so for longest. An attacker who wants to keep others out has to fill
// the limit with one of the two kinds, so a connection of the more frequent kind is closed:
// trickling bytes does not cost idle clients their connections, and hoarding idle connections does
// not cost a client a request that is on its way. (Idle ones first, always, would be wrong in the
// first case: each client would have to connect anew for each request.) With equal numbers of both,
// a connection that is half-way for a second is most likely slow on purpose.
bool evict_for_connection(const Connections& all, Instant newest) {
    Since first = &Connection::dawdles_since;
    Since second = &Connection::idles_since;
    if (count(all, second) > count(all, first)) std::swap(first, second);
    return evict_longest(all, first, newest) || evict_longest(all, second, newest);
}

// By the rate and not by the time, since a peer that starts anew again and again has the youngest.
bool evict_slowest_body(const Connections& all, const Connection& asking, Instant newest,
                        Instant now) {
    Connection* found = nullptr;
    double least = 0;
    for (Connection* connection : all) {
        const std::optional<Instant> start = connection->holds_memory_since();
        if (!start || *start > newest) continue;
        const double rate = connection->body_bytes_per_second(now);
        if (found != nullptr && rate >= least) continue;
        least = rate;
        found = connection;
    }
    if (found == nullptr || found == &asking) return false;
    found->cut();
    return true;
}

void evict_for_waiting(const Connections& all, AnswerMemory& answers, Instant newest, Instant now) {
    const Connection* first = answers.first_waiting();
    if (first == nullptr) return;
    while (!first->has_memory()) {
        if (!evict_reader(all, first, newest, now)) return;
        answers.note_cut();
    }
}

void evict_for_answer(const Connections& all, AnswerMemory& answers, const Connection& asking,
                      std::size_t bytes, Instant now) {
    while (!answers.fits(asking.held_answer_bytes(), bytes)) {
        if (!evict_reader(all, &asking, now, now)) return;
        answers.note_cut();
    }
}

}  // namespace sluice::http
