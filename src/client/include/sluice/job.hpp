#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "sluice/export.hpp"

namespace sluice::client {

using Time = std::chrono::time_point<std::chrono::system_clock, std::chrono::microseconds>;
using Millis = std::chrono::milliseconds;

enum class State { queued, running, succeeded, failed, canceled, timed_out };

SLUICE_EXPORT std::string_view to_text(State state);
SLUICE_EXPORT std::optional<State> parse_state(std::string_view text);
constexpr bool is_final(State state) {
    return state != State::queued && state != State::running;
}

// How long a job waits before it is tried again.
struct Backoff {
    enum class Kind { none, list, exponential };
    Kind kind = Kind::none;
    std::vector<Millis> delays{};  // list: one per retry; the last one holds for all further ones
    Millis base{};                 // exponential: the ceiling of the first delay, then doubled
    Millis cap{};                  // exponential: no ceiling is higher

    static Backoff none() { return {}; }
    static Backoff list(std::vector<Millis> delays) {
        return {Kind::list, std::move(delays), {}, {}};
    }
    static Backoff exponential(Millis base, Millis cap) {
        return {Kind::exponential, {}, base, cap};
    }
    bool operator==(const Backoff&) const = default;
};

// What happens to a job when a job that it depends on ends without success.
enum class OnDependencyFailure { cancel, run };

SLUICE_EXPORT std::string_view to_text(OnDependencyFailure choice);
SLUICE_EXPORT std::optional<OnDependencyFailure> parse_on_dependency_failure(std::string_view text);

// A job as the engine sends it. An empty string means that a field has no value. JSON values are
// kept as text, byte for byte.
struct Job {
    std::string id{};
    std::string tenant{};
    std::string project{};
    std::string queue{};
    std::string type{};
    State state = State::queued;
    std::string entity_type{};
    std::string entity_id{};
    std::string site_id{};
    std::string node_id{};
    std::vector<std::string> exclusive_keys{};
    std::vector<std::string> labels{};
    std::vector<std::string> depends_on{};
    OnDependencyFailure on_dependency_failure = OnDependencyFailure::cancel;
    int priority = 0;
    std::string payload{};  // JSON
    std::string result{};   // JSON; empty: none
    std::string error_code{};
    std::string error_message{};
    int attempt = 0;
    int max_attempts = 1;
    Backoff backoff{};
    Millis timeout{};  // of one attempt; zero: none
    std::optional<int> progress{};
    std::string message{};
    std::string locked_by{};
    std::string replay_of{};
    std::string source{};
    std::string correlation_id{};
    std::optional<Time> run_after{};
    // While it is queued: limits let it start no earlier than this; nothing when that is not known.
    std::optional<Time> next_eligible_at{};
    std::optional<Time> created_at{};
    std::optional<Time> started_at{};
    std::optional<Time> completed_at{};
    std::optional<Time> lease_until{};
    std::int64_t revision = 0;
    bool damaged = false;  // the stored job is damaged; the payload is null
    std::string json{};    // the whole job as it came
};

// A job to submit. Fields that are not set come from the job's type.
struct NewJob {
    std::string type{};
    std::string payload = "null";  // JSON
    std::string tenant{};
    std::string project{};
    std::string queue{};
    std::optional<int> priority{};
    std::optional<Time> run_after{};
    std::optional<Millis> delay{};
    std::optional<Millis> timeout{};
    std::optional<int> max_attempts{};
    std::optional<Backoff> backoff{};
    std::string entity_type{};
    std::string entity_id{};
    std::string site_id{};
    std::string node_id{};
    std::vector<std::string> exclusive_keys{};
    std::vector<std::string> labels{};
    std::vector<std::string> depends_on{};
    std::optional<OnDependencyFailure> on_dependency_failure{};
    std::string source{};
    std::string correlation_id{};
    // Makes the submit happen once, however often it is sent. Without one, the client makes one up,
    // so that its own retries are safe. Of jobs that are submitted together, the key of the first
    // one counts.
    std::string idempotency_key{};
};

enum class Level { info, warn, error };

SLUICE_EXPORT std::string_view to_text(Level level);

struct LogLine {
    std::int64_t seq = 0;
    int attempt = 0;
    Level level = Level::info;
    std::string message{};
    std::string data{};  // JSON; empty: none
    Time at{};
    std::string json{};
};

// One step of a job's history.
struct Event {
    std::int64_t seq = 0;
    std::string type{};  // submitted, claimed, retried, succeeded…
    std::string from{};
    std::string to{};
    int attempt = 0;
    std::string actor{};
    Time at{};
    std::string detail{};  // JSON; empty: none
    std::string hash{};
    std::string json{};
};

// Why a job is in its present state.
struct Reason {
    std::string code{};
    std::string detail{};
    std::string blocker_kind{};
    std::string blocker{};
    std::optional<Time> until{};
};
struct Explanation {
    State state = State::queued;
    std::vector<Reason> reasons{};
    std::string json{};
};

// A worker that the engine has seen.
struct WorkerSeen {
    std::string worker_id{};
    std::string tenant{};
    std::vector<std::string> queues{};  // empty: any
    std::vector<std::string> types{};   // empty: any
    std::vector<std::string> labels{};
    bool waiting = false;              // it has a waiting claim right now
    std::optional<Time> last_claim{};  // nothing: known by its leases only
    std::vector<std::string> jobs{};   // that it holds leases on
    std::string json{};
};

}  // namespace sluice::client
