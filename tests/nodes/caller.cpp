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

// The part of an event that the record keeps: its position, and the fields that the history can
// confirm.
e2e::Fields kept(const e2e::StreamEvent& event) {
    const e2e::Json data = e2e::parse(event.data);
    e2e::Fields fields{{"id", std::stoll(event.id)}, {"event", event.type}};
    const bool is_log = event.type == "log";
    for (const char* member : {is_log ? "seq" : "type", is_log ? "message" : "state", "attempt"}) {
        fields[member] = e2e::at(data, member);
    }
    return fields;
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
        const e2e::Response response = connection().request(call.method, call.path, call.body,
                                                            headers, patience_ + call.waits);
        if (response.status == 503) return {};
        return {response.status, e2e::parse(response.body)};
    } catch (const std::runtime_error&) {
        client_.reset();  // a late answer must not be taken for that of the next call
        return {};
    }
}

void Caller::write(const Call& call, std::int64_t t0, const Answer& answer) {
    e2e::Fields args = call.args;
    args["tenant"] = tenant_;
    record_.write({{"op", call.op},
                   {"actor", name_},
                   {"args", std::move(args)},
                   {"t0", t0},
                   {"t1", record_.now()},
                   {"outcome", outcome_of(answer)},
                   {"status", answer.status},
                   {"result", answer.body}});
}

Answer Caller::once(const Call& call) {
    const std::int64_t t0 = record_.now();
    Answer answer = send(call);
    write(call, t0, answer);
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

// On a connection of its own: the answer lasts as long as it is followed.
Answer Caller::send_follow(const std::string& path, std::int64_t last, e2e::Millis time) {
    try {
        const std::uint16_t port = nodes_.port(dice.below(nodes_.count()));
        if (port == 0) return {};
        e2e::Headers headers;
        if (last > 0) headers.emplace_back("Last-Event-ID", std::to_string(last));
        e2e::EventStream stream(port, path, headers, patience_);
        const int status = stream.head().status;
        const std::string& body = stream.head().body;
        if (status == 503) return {};
        if (status != 200) return {status, body.empty() ? e2e::Json() : e2e::parse(body)};
        e2e::List events;
        const auto start = std::chrono::steady_clock::now();
        while (!stream.ended() && e2e::since(start) < time) {
            const auto event = stream.next(time - e2e::since(start));
            if (event) events.emplace_back(kept(*event));
        }
        return {status, e2e::Fields{{"events", std::move(events)}, {"ended", stream.ended()}}};
    } catch (const std::runtime_error&) {
        return {};
    }
}

std::int64_t Caller::follow(const std::string& job, const std::string& path, std::int64_t last,
                            e2e::Millis time) {
    const std::int64_t t0 = record_.now();
    const Answer answer = send_follow(path, last, time);
    const Call call{.op = "stream",
                    .args = {{"job", job}, {"after", last}, {"wait_ms", time.count()}}};
    write(call, t0, answer);
    if (answer.status != 200) return last;
    const e2e::List& events = e2e::list(answer.body, "events");
    return events.empty() ? last : e2e::number(events.back(), "id");
}

}  // namespace sluice::nodes
