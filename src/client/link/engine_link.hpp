#pragma once

#include <condition_variable>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "client/link/http.hpp"
#include "client/link/job_json.hpp"

namespace sluice::client {

// A call of the API.
struct ApiCall {
    std::string method = "GET";
    std::string path{};  // from /api on, with its query
    std::string body{};  // JSON
    std::string idempotency_key{};
    std::vector<std::pair<std::string, std::string>> headers{};  // beside those of every call
    std::optional<Millis> timeout{};  // instead of Options::timeout; zero: none
    Millis idle_timeout{0};
    bool at_most_once = false;
    std::function<bool(std::string_view)> on_body{};  // as in HttpRequest
    std::function<bool()> keep_on{};
};

// Codes of errors that this library finds by itself.
inline constexpr const char* not_an_engine_code = "not_an_engine";

// The error for an answer that no engine gives. `server` is EngineLink::shown().
Error not_an_engine(const std::string& server, const std::string& what);

// Whether the same call may succeed in a moment. An address where another kind of server answers,
// and a call that was interrupted, are not worth a repeat.
bool is_worth_a_repeat(const Error& error);

// A pause before the repeat number `repeat` (0, 1, 2…): twice as long each time, up to two seconds,
// and random, so that clients spread. Not shorter than the engine asked for.
Millis pause_before(int repeat, Millis asked_for = Millis(0));

// A random key, unique to this call.
std::string fresh_idempotency_key();

// The connections to one engine, with headers and errors. Any thread.
class EngineLink {
  public:
    // Throws Error (usage) when the server's address is invalid.
    explicit EngineLink(Options options);
    ~EngineLink();
    EngineLink(const EngineLink&) = delete;
    EngineLink& operator=(const EngineLink&) = delete;

    const Options& options() const { return options_; }
    // The server, for messages: its full address may hold a password.
    const std::string& shown() const { return shown_; }
    void show_requests(std::function<void(const Request&)> seen) { show_ = std::move(seen); }

    // The answer, when its status is 2xx; otherwise throws Error. Sent once.
    HttpResponse send(const ApiCall& call);

    // The same, repeated while the engine is away, within Options::patience unless another is
    // given.
    HttpResponse send_patiently(const ApiCall& call, std::optional<Millis> patience = {});

    // Waits this long, or until interrupt(), which throws. False: `keep_on` returned false.
    bool pause(Millis time, const std::function<bool()>& keep_on = {});

    // Ends every waiting call, and refuses new ones, as unreachable.
    void interrupt();

    // Returns read(body of the answer); throws Error when no engine gives such an answer.
    template <class Read>
    auto read_answer(const std::string& body, Read read) const {
        JsonReader reader(body, answer_depth_max);
        auto value = read(reader);
        if (const auto done = reader.finish(); !done) {
            throw not_an_engine(shown_, done.error().pointer + " " + done.error().message);
        }
        return value;
    }

  private:
    class Borrowed;

    HttpRequest request_for(const ApiCall& call) const;
    [[noreturn]] void refuse(const HttpResponse& response) const;

    Options options_;
    std::string shown_;
    std::function<void(const Request&)> show_;
    std::mutex mutex_;
    std::condition_variable changed_;
    bool interrupted_ = false;
    std::vector<std::unique_ptr<HttpConnection>> idle_;
    std::vector<HttpConnection*> busy_;
};

}  // namespace sluice::client
