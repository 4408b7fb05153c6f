#include "nodes/caller.hpp"

#include <stdexcept>
#include <thread>

namespace sluice::nodes {
namespace {

constexpr auto longest_outage = std::chrono::seconds(30);

const char* outcome_of(const Answer& answer) {
    if (!answer.is_known()) return "info";
    return answer.is_ok() ? "ok" : "fail";
}

}  // namespace

// The connection is kept while dice and deaths allow, so that calls also meet nodes that die under
// an open connection.
e2e::Client& Caller::connection() {
    const std::uint16_t port = nodes_.port(dice.below(nodes_.count()));
    if (!client_ || port != port_) {
        client_.reset();
        if (port == 0) throw std::runtime_error("the node is down");
        client_ = std::make_unique<e2e::Client>(port);
        port_ = port;
    }
    return *client_;
}

Answer Caller::send(const Call& call) {
    try {
        e2e::Headers headers;
        if (!call.key.empty()) headers.emplace_back("Idempotency-Key", "\"" + call.key + "\"");
        const e2e::Response response =
            connection().request(call.method, call.path, call.body, headers);
        if (response.status == 503) return {};
        return {response.status, e2e::parse(response.body)};
    } catch (const std::runtime_error&) {
        client_.reset();  // an answer that comes late must not be taken for the next one's
        return {};
    }
}

Answer Caller::once(const Call& call) {
    const std::int64_t t0 = record_.now();
    Answer answer = send(call);
    const std::int64_t t1 = record_.now();
    record_.write({{"op", call.op},
                   {"actor", name_},
                   {"args", call.args},
                   {"t0", t0},
                   {"t1", t1},
                   {"outcome", outcome_of(answer)},
                   {"status", answer.status},
                   {"result", answer.body}});
    return answer;
}

Answer Caller::until_known(const Call& call) {
    const auto start = std::chrono::steady_clock::now();
    for (;;) {
        Answer answer = once(call);
        if (answer.is_known() || e2e::since(start) > longest_outage) return answer;
        std::this_thread::sleep_for(e2e::Millis(20 + dice.below(100)));
    }
}

}  // namespace sluice::nodes
