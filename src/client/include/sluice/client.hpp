#pragma once

#include <cstdint>
#include <exception>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "sluice/error.hpp"
#include "sluice/export.hpp"
#include "sluice/job.hpp"

namespace sluice::client {

inline constexpr const char* default_server = "http://127.0.0.1:7070";

struct Options {
    std::string server = default_server;  // http:// or https://, host, port, and perhaps a path
    std::string token{};                  // sent as a bearer token
    std::string tenant{};                 // empty: the token's, or "default"
    Millis timeout{30'000};               // of one request, not counting an intended wait
    Millis patience{10'000};              // how long a call is repeated when the engine is away
    std::string user_agent = "sluice-client";
    std::string ca_file{};  // authorities to trust; empty: those of the system
};

// A request as it would go over the wire, for showing it.
struct Request {
    std::string method{};
    std::string url{};
    std::vector<std::pair<std::string, std::string>> headers{};
    std::string body{};
};

struct JobQuery {
    // Names and values as the API has them, e.g. {"state", "failed"}.
    std::vector<std::pair<std::string, std::string>> filters{};
    int limit = 50;
    std::string cursor{};
};
struct JobPage {
    std::vector<Job> jobs{};
    std::string next_cursor{};  // empty: this was the last page
    std::string json{};         // the whole answer
};

// Names and values.
using Headers = std::vector<std::pair<std::string, std::string>>;

// One update of a job's stream, in order. Exactly one of the two is set.
struct Update {
    std::int64_t position = 0;  // to go on from: Client::follow(id, position, …)
    std::optional<LogLine> line{};
    struct Status {
        State state = State::queued;
        std::string type{};  // the step: submitted, claimed, retried…
        int attempt = 0;
        Time at{};
        std::string json{};
    };
    std::optional<Status> status{};
};

class EngineLink;

// Talks to an engine. Every call blocks, throws Error when it fails, and is repeated within
// Options::patience when the engine is away and a repeat is safe. May be used by several threads at
// once; each keeps a connection of its own.
class SLUICE_EXPORT Client {
  public:
    explicit Client(Options options = {});
    ~Client();
    Client(const Client&) = delete;
    Client& operator=(const Client&) = delete;

    const Options& options() const;

    // Calls `seen` with each request instead of sending it; the call then throws RequestShown.
    void show_requests(std::function<void(const Request&)> seen);

    Job submit(const NewJob& job);
    std::vector<Job> submit(const std::vector<NewJob>& jobs);  // all or none
    Job get(const std::string& id);
    JobPage list(const JobQuery& query = {});
    Job cancel(const std::string& id, const std::string& reason = {});
    Job replay(const std::string& id, const std::string& reason = {});  // returns the new job
    Explanation explain(const std::string& id);
    std::vector<LogLine> logs(const std::string& id, std::int64_t after = 0, int limit = 1000);
    std::vector<Event> events(const std::string& id, std::int64_t after = 0, int limit = 1000);
    std::vector<WorkerSeen> workers();

    // Waits for the job's end, or for this long. Nothing: it has not ended by then.
    std::optional<Job> wait(const std::string& id, std::optional<Millis> limit = {});

    // Calls `on_update` with every update of the job after `position`, past and future, in order,
    // without gap or repeat, over restarts of the engine, until the job has ended (returns true),
    // or `on_update` or `keep_on` returns false, or the engine was away for `patience` (throws).
    // `keep_on` is asked at least every 200 ms.
    bool follow(const std::string& id, std::int64_t position,
                const std::function<bool(const Update&)>& on_update,
                const std::function<bool()>& keep_on = {});

    // Any other call; returns the body of the answer. Repeated only when `repeatable`. `headers`
    // are sent beside those of every call.
    std::string call(const std::string& method, const std::string& path, const std::string& body,
                     bool repeatable, const Headers& headers = {});

    // Ends every waiting call, and refuses new ones, as unreachable. From any thread.
    void interrupt();

  private:
    std::unique_ptr<EngineLink> link_;
};

// Thrown by a call that was shown instead of sent.
class SLUICE_EXPORT RequestShown : public std::exception {};

}  // namespace sluice::client
