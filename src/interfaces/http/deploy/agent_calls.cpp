#include "interfaces/http/deploy/agent_calls.hpp"

#include <fmt/format.h>

#include "application/secrets/redactor.hpp"
#include "client/link/http.hpp"
#include "client/link/reportable.hpp"
#include "json/json_reader.hpp"

namespace sluice::http::deploy {
namespace {

constexpr std::size_t answer_bytes_max = 256 * 1024;
constexpr std::size_t error_bytes_max = 2000;

// An agent may answer in an envelope of its own, whose code is its verdict.
struct Envelope {
    bool is_object = false;
    std::int64_t code = 200;
    std::string message{};
};

std::optional<Envelope> read_envelope(std::string_view body) {
    Envelope envelope;
    JsonReader reader(body);
    envelope.is_object = reader.kind() == JsonReader::Kind::object;
    if (!envelope.is_object) {
        reader.raw();
    } else {
        reader.object([&](std::string_view key) {
            if (key == "code" && reader.kind() == JsonReader::Kind::number) {
                envelope.code = reader.integer();
            } else if (key == "message" && reader.kind() == JsonReader::Kind::string) {
                envelope.message = reader.string();
            }
        });
    }
    if (!reader.finish()) return std::nullopt;
    return envelope;
}

AgentCalls::Answer judge(const client::HttpResponse& response) {
    const bool is_empty = response.body.find_first_not_of(" \t\r\n") == std::string::npos;
    const bool is_good = response.status >= 200 && response.status < 300;
    if (!is_good) {
        const std::string text = client::clean_text(response.body, error_bytes_max);
        return {.error = fmt::format("it answered HTTP {}{}{}", response.status,
                                     text.empty() ? "" : ": ", text)};
    }
    if (is_empty) return {.json = "{}"};
    const auto envelope = read_envelope(response.body);
    if (!envelope) return {.error = "its answer is not JSON"};
    if (envelope->code != 200 && envelope->code != 0) {
        return {.error = fmt::format("it answered code {}: {}", envelope->code,
                                     client::clean_text(envelope->message, error_bytes_max))};
    }
    if (envelope->is_object) return {.json = response.body};
    return {.json = fmt::format(R"({{"answer":{}}})", response.body)};
}

client::HttpRequest request_of(const AgentCalls::Wanted& wanted) {
    client::HttpRequest request;
    request.method = "POST";
    request.url = wanted.url;
    request.headers = {{"Content-Type", "application/json"},
                       {"Accept", "application/json"},
                       {"X-Runtime-Token", wanted.token}};
    request.body = wanted.body;
    request.timeout = client::Millis(to_millis(AgentCalls::time_limit));
    request.body_max = answer_bytes_max;
    return request;
}

AgentCalls::Answer call_agent(client::HttpConnection& connection,
                              const AgentCalls::Wanted& wanted) {
    AgentCalls::Answer answer;
    try {
        answer = judge(connection.send(request_of(wanted)));
    } catch (const client::Error& error) {
        answer.error = error.what();
    }
    // An agent may repeat what it was sent.
    const Redactor redactor({wanted.token});
    redactor.clean(answer.error);
    if (!answer.json.empty()) redactor.clean_json(answer.json);
    return answer;
}

}  // namespace

AgentCalls::AgentCalls(Deliver deliver) : deliver_(std::move(deliver)) {}

AgentCalls::~AgentCalls() {
    {
        const std::lock_guard lock(mutex_);
        stop_ = true;
        waiting_.clear();
        for (const auto& connection : connections_) connection->interrupt();
    }
    arrived_.notify_all();
    for (std::thread& thread : threads_) thread.join();
}

bool AgentCalls::post(Wanted wanted, std::function<void(Answer)> done) {
    const std::lock_guard lock(mutex_);
    if (waiting_.size() >= waiting_max) return false;
    waiting_.push_back({std::move(wanted), std::move(done)});
    if (idle_ < waiting_.size() && threads_.size() < threads_max) {
        connections_.push_back(std::make_unique<client::HttpConnection>());
        threads_.emplace_back([this, &connection = *connections_.back()] { serve(connection); });
    }
    arrived_.notify_one();
    return true;
}

void AgentCalls::serve(client::HttpConnection& connection) {
    for (std::unique_lock lock(mutex_);;) {
        ++idle_;
        arrived_.wait(lock, [this] { return stop_ || !waiting_.empty(); });
        --idle_;
        if (stop_) return;
        Waiting next = std::move(waiting_.front());
        waiting_.pop_front();
        lock.unlock();
        auto answer = std::make_shared<Answer>(call_agent(connection, next.wanted));
        deliver_([done = std::move(next.done), answer] { done(std::move(*answer)); });
        lock.lock();
    }
}

}  // namespace sluice::http::deploy
