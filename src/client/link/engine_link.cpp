#include "client/link/engine_link.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <chrono>
#include <random>

#include "client/link/endpoint.hpp"

namespace sluice::client {
namespace {

using Clock = std::chrono::steady_clock;

constexpr std::size_t idle_connections_max = 16;
constexpr std::size_t answer_bytes_max = 64 * 1024 * 1024;
constexpr Millis first_pause{50};
constexpr Millis longest_pause{2'000};
constexpr Millis ask_period{100};
constexpr Millis longest_patience = std::chrono::hours(24 * 365);

Error interrupted_error() {
    return {ErrorKind::unreachable, 0, http_error::interrupted, "the call was interrupted"};
}

// Seconds; the other form of the header, a date, is not used by engines.
Millis retry_after(const HttpResponse& response) {
    const std::string_view text = response.header("Retry-After");
    int seconds = 0;
    const auto read = std::from_chars(text.data(), text.data() + text.size(), seconds);
    if (read.ec != std::errc{} || seconds < 0) return Millis(0);
    return Millis(std::min(seconds, 3600) * 1000);
}

// An engine's refusal (RFC 9457).
struct Problem {
    std::string code;
    std::string detail;
    std::string pointer;
};

std::optional<Problem> read_problem(const std::string& body) {
    Problem problem;
    JsonReader reader(body, answer_depth_max);
    reader.object([&](std::string_view key) {
        if (key == "code") problem.code = read_text(reader);
        if (key == "detail") problem.detail = read_text(reader);
        if (key != "errors" || reader.null()) return;
        reader.array([&](std::size_t index) {
            if (index > 0) return;
            reader.object([&](std::string_view part) {
                if (part == "pointer") problem.pointer = read_text(reader);
            });
        });
    });
    if (!reader.finish() || problem.code.empty()) return std::nullopt;
    return problem;
}

// Statuses that a proxy before an engine may send by itself: about rights, time and size.
bool is_of_any_server(int status) {
    return status == 401 || status == 403 || status == 407 || status == 408 || status == 413;
}

std::string message_of(const Problem& problem) {
    if (problem.pointer.empty()) return problem.detail;
    return problem.pointer.substr(1) + ": " + problem.detail;
}

}  // namespace

Error not_an_engine(const std::string& server, const std::string& what) {
    return {ErrorKind::unreachable, 0, not_an_engine_code,
            fmt::format("what answers at {} is not a Sluice engine, or one that this version does "
                        "not understand ({}); check the address, and proxies on the way",
                        server, what)};
}

bool is_worth_a_repeat(const Error& error) {
    return error.may_be_repeated() && error.code() != not_an_engine_code &&
           error.code() != http_error::interrupted && error.code() != http_error::too_large;
}

Millis pause_before(int repeat, Millis asked_for) {
    thread_local std::minstd_rand dice{std::random_device{}()};
    const Millis longest = std::min(longest_pause, first_pause * (1 << std::min(repeat, 10)));
    std::uniform_int_distribution<std::int64_t> between(longest.count() / 2, longest.count());
    return std::max(Millis(between(dice)), asked_for);
}

std::string fresh_idempotency_key() {
    std::random_device chance;
    return fmt::format("{:08x}{:08x}{:08x}{:08x}", chance(), chance(), chance(), chance());
}

// A connection that one call has for itself.
class EngineLink::Borrowed {
  public:
    explicit Borrowed(EngineLink& link) : link_(link) {
        const std::lock_guard lock(link_.mutex_);
        if (link_.interrupted_) throw interrupted_error();
        if (link_.idle_.empty()) {
            connection_ = std::make_unique<HttpConnection>();
        } else {
            connection_ = std::move(link_.idle_.back());
            link_.idle_.pop_back();
        }
        link_.busy_.push_back(connection_.get());
    }
    ~Borrowed() {
        const std::lock_guard lock(link_.mutex_);
        std::erase(link_.busy_, connection_.get());
        if (link_.idle_.size() < idle_connections_max)
            link_.idle_.push_back(std::move(connection_));
    }
    Borrowed(const Borrowed&) = delete;
    Borrowed& operator=(const Borrowed&) = delete;

    HttpConnection* operator->() const { return connection_.get(); }

  private:
    EngineLink& link_;
    std::unique_ptr<HttpConnection> connection_;
};

EngineLink::EngineLink(Options options) : options_(std::move(options)) {
    shown_ = parse_endpoint(options_.server).shown;
    if (options_.server.find_first_of("?#") != std::string::npos) {
        throw Error(ErrorKind::usage, 0, http_error::bad_url,
                    fmt::format("the address of the server {} has a query or a fragment", shown_));
    }
    while (options_.server.ends_with('/')) options_.server.pop_back();
    options_.patience = std::clamp(options_.patience, Millis(0), longest_patience);
    idle_.reserve(idle_connections_max);
}

EngineLink::~EngineLink() = default;

HttpRequest EngineLink::request_for(const ApiCall& call) const {
    HttpRequest request;
    request.method = call.method;
    request.url = options_.server + call.path;
    request.headers = call.headers;
    if (!options_.token.empty())
        request.headers.emplace_back("Authorization", "Bearer " + options_.token);
    if (!options_.user_agent.empty())
        request.headers.emplace_back("User-Agent", options_.user_agent);
    if (call.method == "POST" || !call.body.empty())
        request.headers.emplace_back("Content-Type", "application/json");
    if (!call.idempotency_key.empty())
        request.headers.emplace_back("Idempotency-Key", '"' + call.idempotency_key + '"');
    request.body = call.body;
    request.timeout = call.timeout.value_or(options_.timeout);
    request.idle_timeout = call.idle_timeout;
    request.body_max = answer_bytes_max;
    request.at_most_once = call.at_most_once;
    request.ca_file = options_.ca_file;
    request.on_body = call.on_body;
    request.keep_on = call.keep_on;
    return request;
}

HttpResponse EngineLink::send(const ApiCall& call) {
    HttpRequest request = request_for(call);
    if (show_) {
        show_({request.method, request.url, request.headers, request.body});
        throw RequestShown();
    }
    Borrowed connection(*this);
    HttpResponse response = connection->send(request);
    if (response.status < 200 || response.status > 299) refuse(response);
    return response;
}

void EngineLink::refuse(const HttpResponse& response) const {
    const int status = response.status;
    const auto problem = read_problem(response.body);
    const std::string code = problem ? problem->code : fmt::format("http_{}", status);
    std::string message =
        problem ? message_of(*problem) : fmt::format("{} answers with status {}", shown_, status);
    if (status == 401) {
        message.insert(0, options_.token.empty() ? "no token was given: " : "token refused: ");
    }
    if (status == 429 || (status >= 500 && status != 501 && status != 505)) {
        throw Error(ErrorKind::unavailable, status, code, message, {}, retry_after(response));
    }
    if (status < 400) {
        throw not_an_engine(shown_, fmt::format("it redirects with status {} to \"{}\"", status,
                                                response.header("Location")));
    }
    if (!problem && !is_of_any_server(status)) {
        throw not_an_engine(shown_, fmt::format("status {} without a problem document", status));
    }
    throw Error(ErrorKind::refused, status, code, message, problem ? problem->pointer : "");
}

HttpResponse EngineLink::send_patiently(const ApiCall& call, std::optional<Millis> patience) {
    std::optional<Clock::time_point> deadline;
    for (int repeat = 0;; ++repeat) {
        try {
            return send(call);
        } catch (const Error& error) {
            if (!is_worth_a_repeat(error)) throw;
            const Clock::time_point now = Clock::now();
            if (!deadline) deadline = now + patience.value_or(options_.patience);
            const Millis rest = pause_before(repeat, error.retry_after());
            if (now + rest > *deadline || !pause(rest, call.keep_on)) throw;
        }
    }
}

bool EngineLink::pause(Millis time, const std::function<bool()>& keep_on) {
    const Clock::time_point end = Clock::now() + time;
    for (;;) {
        if (keep_on && !keep_on()) return false;
        std::unique_lock lock(mutex_);
        const Clock::time_point next = keep_on ? std::min(end, Clock::now() + ask_period) : end;
        changed_.wait_until(lock, next, [this] { return interrupted_; });
        if (interrupted_) throw interrupted_error();
        if (Clock::now() >= end) return true;
    }
}

void EngineLink::interrupt() {
    const std::lock_guard lock(mutex_);
    interrupted_ = true;
    for (HttpConnection* connection : busy_) connection->interrupt();
    changed_.notify_all();
}

}  // namespace sluice::client
